import type {
  AllMiddlewareArgs,
  App,
  BlockAction,
  MessageShortcut,
  SlackActionMiddlewareArgs,
  SlackCommandMiddlewareArgs,
  SlackShortcutMiddlewareArgs,
  SlackViewMiddlewareArgs,
  SlashCommand,
  ViewOutput,
  ViewSubmitAction,
} from '@slack/bolt';
import type { ModalView } from '@slack/types';
import type { Metrics, RequestKind, RequestOutcome } from '../metrics/metrics.ts';
import type { Tracing } from '../metrics/tracing.ts';
import type { Permission } from '../policy.ts';
import { parseJson } from '../runtime/json.ts';
import type { Log } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { MENU_ACTION, type Message, message } from '../slack/blocks.ts';
import type { Identity, SlackApi } from '../slack/client.ts';
import { noticeView } from '../slack/modals.ts';
import { installedTeamId } from '../slack/reply.ts';
import { type EphemeralMessage, type PostEphemeral, removeOriginal } from '../slack/response-url.ts';
import { type createGate, outdated } from './gate.ts';
import { type Caller, type CommandTools, UserFacingError } from './intake.ts';
import {
  type ButtonAction,
  type EventTools,
  type ModalOrigin,
  type ModalValues,
  modalOrigin,
  type Registry,
  type ShortcutMessage,
} from './registry.ts';

export interface BindParts {
  registry: Registry;
  gate: ReturnType<typeof createGate>;
  /** The bot's identity; undefined until it is known. */
  identity: () => Identity | undefined;
  /** The tools for events, except the bot's identity. */
  eventTools: Omit<EventTools, 'identity'>;
  /** Opens a modal for a click on Home, or replaces the modal of the click. */
  openModal: CommandTools['openModal'];
  postEphemeral: PostEphemeral;
  /** Posts an ephemeral into a thread, which a response URL cannot do. */
  postInThread: SlackApi['postEphemeralTo'];
  ephemeralTimeoutMs: number;
  monotonicMs: () => number;
  /** The time of receipt of a request that is read now, on the same clock. */
  receivedMs: () => number;
  metrics: Pick<Metrics, 'requests'>;
  tracing: Tracing;
  log: Log;
}

/** Matches every name. Bolt asks all of its listeners about each request, so there is only one per kind of request. */
const ANY = /(?:)/;

/**
 * Registers listeners with Bolt for the registry. Unknown requests get an answer as well: Slack would otherwise show
 * renamed buttons as broken after 3 s. Every listener acknowledges last, when the request is stored. Bolt acknowledges
 * events before their listeners run; the receivers delay that until the listeners have finished.
 */
export function bind(app: App, parts: BindParts) {
  const { gate, postEphemeral, ephemeralTimeoutMs, monotonicMs, receivedMs, metrics, tracing, log } = parts;
  const { registry } = parts;
  const commands = byName(registry.commands, ({ name }) => name);
  const buttons = byName(registry.buttons, ({ action }) => action);
  const urlActions = new Set(registry.urlActions);
  const shortcuts = byName(registry.shortcuts, ({ callbackId }) => callbackId);
  const modals = byName(registry.modals, ({ callbackId }) => callbackId);
  const events = byName(registry.events, ({ event }) => event);

  /** Passes a request through the gate, and measures the time until its answer. */
  async function passGate<T>(
    { kind, name, may }: { kind: RequestKind; name: string; may: Permission },
    caller: Caller,
    run: (caller: Caller, tools: CommandTools) => Promise<T>,
  ) {
    const result = await tracing.span(`${kind} ${name}`, () => gate.pass(name, may, caller, run));
    const outcome = result.kind === 'answered' ? 'ok' : result.kind;
    metrics.requests.observe({ kind, name, outcome }, monotonicMs() - caller.receivedAtMs);
    return result;
  }

  /** Returns an ephemeral message: the answer of `run`, or the reason for a refusal. */
  async function pass(...request: Parameters<typeof passGate<EphemeralMessage | undefined>>) {
    const result = await passGate(...request);
    return result.kind === 'answered' ? result.value : result.message;
  }

  async function sendEphemeral(
    { user, responseUrl }: Pick<Caller, 'responseUrl'> & { user: { id: string } },
    reply: EphemeralMessage | undefined,
  ): Promise<boolean> {
    if (reply === undefined) return true;
    const arrived =
      responseUrl !== undefined && (await postEphemeral(responseUrl, reply, ephemeralTimeoutMs));
    if (!arrived) log.warn({ user: user.id }, 'an ephemeral answer did not arrive');
    return arrived;
  }

  app.command(ANY, async ({ ack, body }: SlackCommandMiddlewareArgs & AllMiddlewareArgs) => {
    const command = commands.get(body.command);
    if (command === undefined) return ack({ response_type: 'ephemeral', ...outdated.command });
    const { name, may } = command;
    const reply = await pass(
      { kind: 'command', name, may },
      callerOfCommand(body, receivedMs()),
      (...passed) => command.run(body.text, ...passed),
    );
    await ack(reply && { response_type: 'ephemeral', ...reply });
  });

  /** Answers a click; undefined if a modal is the answer, or the clicked message itself. */
  async function click(
    { action: name, may, value, settles, run }: ButtonAction,
    about: unknown,
    clicker: Caller,
    body: BlockAction,
  ): Promise<EphemeralMessage | undefined> {
    let opened = false;
    const reply = await pass({ kind: 'button', name, may }, clicker, async (caller, tools) => {
      const carried = value.safeParse(about);
      if (!carried.success) return outdated.button;
      const answer = await run(carried.data, caller, {
        ...tools,
        async openModal(...modal) {
          await tools.openModal(...modal);
          opened = true;
        },
      });
      if (settles === undefined || opened || body.container?.is_ephemeral !== true) return answer;
      if (answer !== undefined) return { ...answer, replace_original: true };
      return settles === 'remove' ? removeOriginal : undefined;
    });
    return reply ?? (opened || clicker.modalId === undefined ? undefined : doneInThread);
  }

  /** In a thread the answer is posted there. A click without a conversation, on Home or in a modal, gets a modal. */
  async function answerClick(clicker: Caller, reply: EphemeralMessage | undefined, body: BlockAction) {
    if (reply === undefined) return;
    const { view } = body;
    const threadTs = threadOf(body);
    const isNew = reply.replace_original === undefined && reply.delete_original === undefined;
    if (threadTs !== undefined && isNew) {
      const to = { channel: clicker.channel.id, user: clicker.user.id, threadTs };
      const posted = withTimeout(ephemeralTimeoutMs, parts.postInThread(to, reply));
      const isShown = await posted.then(
        () => true,
        () => false,
      );
      if (isShown) return;
    }
    if (clicker.responseUrl !== undefined || view === undefined) {
      await sendEphemeral(clicker, reply);
      return;
    }
    const title = view.type === 'modal' ? view.title.text : 'Docket';
    await parts.openModal(clicker, noticeView(title, reply)).catch((error: unknown) => {
      log.warn({ err: error, user: clicker.user.id }, 'the answer to a click was not shown');
    });
  }

  type Click = SlackActionMiddlewareArgs<BlockAction> & AllMiddlewareArgs;

  app.action(ANY, async ({ action, ack, body }: Click) => {
    if (urlActions.has(action.action_id)) return ack();
    const isMenu = action.action_id === MENU_ACTION;
    // An entry of a menu names its button; the button's value is the id of the block.
    const chosen = 'selected_option' in action ? action.selected_option?.value : undefined;
    const button = buttons.get((isMenu ? chosen : action.action_id) ?? '');
    const value = 'value' in action ? action.value : undefined;
    const clicker = callerOfAction(body, receivedMs());
    const reply = button
      ? await click(button, parseJson(isMenu ? action.block_id : value), clicker, body)
      : outdated.button;
    await answerClick(clicker, reply, body);
    await ack();
  });

  app.shortcut(ANY, async ({ ack, body }: SlackShortcutMiddlewareArgs & AllMiddlewareArgs) => {
    const shortcut = body.type === 'message_action' ? shortcuts.get(body.callback_id) : undefined;
    if (body.type !== 'message_action' || shortcut === undefined) {
      // A workspace-wide shortcut has no response URL.
      const responseUrl = 'response_url' in body ? body.response_url : undefined;
      await sendEphemeral({ user: body.user, responseUrl }, outdated.shortcut);
      return ack();
    }
    const { callbackId: name, may, run } = shortcut;
    const chooser = callerOfAction(body, receivedMs());
    const reply = await pass({ kind: 'shortcut', name, may }, chooser, (...passed) =>
      run(messageOf(body), ...passed),
    );
    await sendEphemeral(chooser, reply);
    await ack();
  });

  app.view(
    { callback_id: ANY, type: 'view_submission' },
    async ({ ack, body, view }: SlackViewMiddlewareArgs<ViewSubmitAction> & AllMiddlewareArgs) => {
      const receivedAtMs = receivedMs();
      const update = (message: Message) =>
        ack({ response_action: 'update', view: noticeView(view.title.text, message) });
      const modal = modals.get(view.callback_id);
      const origin = modalOrigin.safeParse(parseJson(view.private_metadata));
      if (modal === undefined || !origin.success) return update(outdated.modal);
      const { callbackId: name, may, submit } = modal;
      const submitter = callerOfModal(body, origin.data, receivedAtMs);
      const { values, ticked } = fieldsOf(view);
      const result = await passGate({ kind: 'modal', name, may }, submitter, (caller, tools) =>
        submit(values, caller, tools, { ticked, about: origin.data.about }),
      );
      if (result.kind !== 'answered') return update(result.message);
      const { value } = result;
      if (value.kind === 'problems') return ack({ response_action: 'errors', errors: value.problems });
      if (value.kind === 'closed') return ack();
      if (value.kind === 'view') {
        const next = withOrigin(value.view, { ...origin.data, about: value.about });
        return ack({ response_action: 'update', view: next });
      }
      // Buttons work in the conversation of the command; in a modal their answers would have no place.
      if (submitter.responseUrl !== undefined && (await sendEphemeral(submitter, value.message)))
        return ack();
      return update(value.message);
    },
  );

  app.event(ANY, async ({ event, body }) => {
    const listener = events.get(event.type);
    if (listener === undefined) return;
    const receivedAtMs = monotonicMs();
    let outcome: RequestOutcome = 'failed';
    try {
      const identity = parts.identity();
      if (identity === undefined) throw new Error('an event came before the identity of the bot was known');
      const team = installedTeamId(body);
      if (team === identity.teamId) {
        const tools = { ...parts.eventTools, identity };
        await tracing.span(`event ${listener.event}`, () => listener.handle(event, body, tools));
      } else log.warn({ team }, 'an event of another workspace was ignored');
      outcome = team === identity.teamId ? 'ok' : 'refused';
    } finally {
      const about = { kind: 'event', name: listener.event, outcome };
      metrics.requests.observe(about, monotonicMs() - receivedAtMs);
    }
  });
}

/** The thread of a clicked message; none for a root, which people see in the channel. */
function threadOf({ container }: BlockAction): string | undefined {
  const { thread_ts: threadTs, message_ts: ts } = container ?? {};
  return typeof threadTs === 'string' && threadTs !== ts ? threadTs : undefined;
}

/** Confirms a click in a modal whose answer appears elsewhere. */
const doneInThread = message([['Done. The result appears in its thread.']]);

const byName = <Entry>(entries: readonly Entry[], nameOf: (entry: Entry) => string) =>
  new Map(entries.map((entry) => [nameOf(entry), entry]));

function messageOf({ message, message_ts: ts }: MessageShortcut): ShortcutMessage {
  const { thread_ts: threadTs, text, blocks, attachments } = message;
  const inThread = typeof threadTs === 'string' && threadTs !== ts;
  return { ts, ...(inThread && { threadTs }), content: { text, blocks, attachments } };
}

/** The fields of a submitted modal, by block id: typed and chosen values, and those of ticked checkboxes. */
function fieldsOf({ state }: ViewOutput) {
  const values: ModalValues = {};
  const ticked: Record<string, string[]> = {};
  for (const [blockId, inputs] of Object.entries(state.values)) {
    // Each block has one input.
    const [input] = Object.values(inputs);
    const chosen = input?.selected_option?.value ?? input?.selected_conversation ?? input?.selected_time;
    const value = input?.value ?? chosen ?? '';
    if (value.trim() !== '') values[blockId] = value;
    if (input?.selected_options) ticked[blockId] = input.selected_options.map(({ value }) => value);
  }
  return { values, ticked };
}

/** From the payload of a slash command. `fullMember` is not known yet, so it is false. */
const callerOfCommand = (body: SlashCommand, receivedAtMs: number): Caller => ({
  teamId: body.team_id,
  user: { id: body.user_id, name: body.user_name, fullMember: false },
  channel: { id: body.channel_id, name: body.channel_name },
  requestId: body.trigger_id,
  triggerId: body.trigger_id,
  responseUrl: body.response_url,
  receivedAtMs,
});

/** From a click, or a message shortcut. A modal and Home have neither a channel nor a response URL. */
function callerOfAction(body: BlockAction | MessageShortcut, receivedAtMs: number): Caller {
  const name = 'username' in body.user ? body.user.username : undefined;
  const view = 'view' in body ? body.view : undefined;
  return {
    teamId: body.team?.id ?? body.user.team_id ?? '',
    user: { id: body.user.id, name: name ?? body.user.name ?? body.user.id, fullMember: false },
    channel: { id: body.channel?.id ?? '', name: body.channel?.name ?? '' },
    requestId: body.trigger_id,
    triggerId: body.trigger_id,
    ...(view?.type === 'modal' && { modalId: view.id }),
    responseUrl: body.response_url,
    receivedAtMs,
  };
}

/**
 * From a submitted modal: a repeat has the same view id. For people of other organizations `team` is theirs, and only
 * the view names the workspace of the app (bolt-js#1614).
 */
const callerOfModal = (
  body: ViewSubmitAction,
  { channel, responseUrl }: ModalOrigin,
  receivedAtMs: number,
): Caller => ({
  teamId: body.view.app_installed_team_id || (body.team?.id ?? body.user.team_id ?? ''),
  user: { id: body.user.id, name: body.user.name, fullMember: false },
  channel,
  requestId: `view ${body.view.id}`,
  triggerId: body.trigger_id,
  responseUrl,
  receivedAtMs,
});

interface ModalOpenerParts {
  slack: Pick<SlackApi, 'openModal' | 'updateModal'>;
  /** The time limit of the call; shorter if the request has already taken long. */
  timeoutMs: number;
  monotonicMs: () => number;
  log: Log;
}

/** From the receipt of a request to the end of the call: an ephemeral answer and the acknowledgement follow it. */
const OPEN_DEADLINE_MS = 2300;

const notOpened = message([
  [
    "Slack didn't open the form. Try again in a moment, or type the whole command. Add ",
    { code: 'help' },
    ' to see how.',
  ],
]);

/** Returns the view with its origin, which its submission includes. */
export const withOrigin = (view: ModalView, origin: ModalOrigin): ModalView => ({
  ...view,
  private_metadata: JSON.stringify(origin),
});

/** Opens a modal for the caller, or replaces the modal of the click. Rejects with `UserFacingError`. */
export function createModalOpener({ slack, timeoutMs, monotonicMs, log }: ModalOpenerParts) {
  return async (
    { channel, triggerId, modalId, responseUrl, receivedAtMs }: Caller,
    view: ModalView,
    about?: string,
  ): Promise<void> => {
    // Only a modal with a submit button has an answer.
    const opened = view.submit === undefined ? view : withOrigin(view, { channel, responseUrl, about });
    const remainingMs = receivedAtMs + OPEN_DEADLINE_MS - monotonicMs();
    if (remainingMs <= 0) throw new UserFacingError(notOpened);
    try {
      const limitMs = Math.min(timeoutMs, remainingMs);
      if (modalId === undefined) await slack.openModal(triggerId, opened, limitMs);
      else await slack.updateModal(modalId, opened, limitMs);
    } catch (error) {
      log.warn({ err: error }, 'a modal was not opened');
      throw new UserFacingError(notOpened);
    }
  };
}
