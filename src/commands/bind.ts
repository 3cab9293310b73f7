import type {
  App,
  BlockAction,
  MessageShortcut,
  SlackShortcut,
  SlashCommand,
  ViewSubmitAction,
} from '@slack/bolt';
import type { ModalView } from '@slack/types';
import { z } from 'zod';
import type { Metrics, RequestOutcome, Tracing } from '../metrics/metrics.ts';
import { parseJson } from '../runtime/json.ts';
import type { Log } from '../runtime/log.ts';
import { withTimeout } from '../runtime/with-timeout.ts';
import { MENU_ACTION, type Message, message } from '../slack/blocks.ts';
import type { Identity, SlackApi } from '../slack/client.ts';
import { noticeView } from '../slack/modals.ts';
import { installedTeamId } from '../slack/reply.ts';
import { type EphemeralMessage, type postEphemeral, removeOriginal } from '../slack/response-url.ts';
import { type Gate, outdated } from './gate.ts';
import { type Caller, type CommandTools, UserFacingError } from './intake.ts';
import type { ButtonAction, EventTools, ModalValues, Registry, ShortcutMessage } from './registry.ts';

export interface BindParts {
  registry: Registry;
  gate: Gate;
  /** The bot's identity; undefined until it is known. */
  identity: () => Identity | undefined;
  /** The tools for events, except the bot's identity. */
  eventTools: Omit<EventTools, 'identity'>;
  /** Opens a modal for a click on Home, or replaces the modal of the click. */
  openModal: CommandTools['openModal'];
  postEphemeral: typeof postEphemeral;
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

/**
 * The origin of a modal, in its `private_metadata`: place, subject, and the response URL of the request that opened it.
 * Slack shows it to nobody.
 */
const modalOrigin = z.object({
  channel: z.object({ id: z.string(), name: z.string() }),
  responseUrl: z.string().optional(),
  about: z.unknown().optional(),
});
type ModalOrigin = z.infer<typeof modalOrigin>;

/** Matches every name. Bolt asks all of its listeners about each request, so there is only one per kind of request. */
const ANY = /(?:)/;

/**
 * Registers listeners with Bolt for the registry. Unknown requests get an answer as well: Slack would otherwise show
 * renamed buttons as broken after 3 s. Every listener acknowledges last, when the request is stored. Bolt acknowledges
 * events before their listeners run; the receivers delay that until the listeners have finished.
 */
export function bind(app: App, parts: BindParts) {
  const { registry, gate, ephemeralTimeoutMs, monotonicMs, receivedMs, metrics, tracing, log } = parts;
  const commands = byName(registry.commands, ({ name }) => name);
  const buttons = byName(registry.buttons, ({ action }) => action);
  const urlActions = new Set(registry.urlActions);
  const shortcuts = byName(registry.shortcuts, ({ callbackId }) => callbackId);
  const modals = byName(registry.modals, ({ callbackId }) => callbackId);
  const events = byName(registry.events, ({ event }) => event);

  /** Answers by a response URL, or in a thread: a new message to the caller alone. Returns whether it arrived. */
  async function answer(
    { user, channel, responseUrl }: Pick<Caller, 'user' | 'channel' | 'responseUrl'>,
    reply: EphemeralMessage,
    threadTs?: string,
  ): Promise<boolean> {
    if (threadTs !== undefined && !reply.replace_original && !reply.delete_original) {
      const place = { channel: channel.id, user: user.id, threadTs };
      const posted = parts.postInThread(place, reply).then(() => true);
      if (await withTimeout(ephemeralTimeoutMs, posted).catch(() => false)) return true;
    }
    const arrived =
      responseUrl !== undefined && (await parts.postEphemeral(responseUrl, reply, ephemeralTimeoutMs));
    if (!arrived) log.warn({ user: user.id }, 'an ephemeral answer did not arrive');
    return arrived;
  }

  app.command(ANY, async ({ ack, body }) => {
    const command = commands.get(body.command);
    const reply = command
      ? await gate.pass(
          'command',
          command.name,
          command.may,
          callerOfCommand(body, receivedMs()),
          (...passed) => command.run(body.text, ...passed),
        )
      : outdated.command;
    await ack(reply && { response_type: 'ephemeral', ...reply });
  });

  /** Answers a click; undefined if a modal is the answer, or the clicked message itself. */
  async function click(
    { action, may, value, closesQuestion, run }: ButtonAction,
    about: unknown,
    clicker: Caller,
    body: BlockAction,
  ): Promise<EphemeralMessage | undefined> {
    let opened = false;
    const reply = await gate.pass('button', action, may, clicker, async (caller, tools) => {
      const carried = value.safeParse(about);
      if (!carried.success) return outdated.button;
      const reply = await run(carried.data, caller, {
        ...tools,
        async openModal(...modal) {
          await tools.openModal(...modal);
          opened = true;
        },
      });
      if (closesQuestion === undefined || opened || body.container?.is_ephemeral !== true) return reply;
      if (reply !== undefined) return { ...reply, replace_original: true };
      return closesQuestion === 'remove' ? removeOriginal : undefined;
    });
    return reply ?? (opened || clicker.modalId === undefined ? undefined : doneInThread);
  }

  app.action<BlockAction>(ANY, async ({ action, ack, body }) => {
    if (urlActions.has(action.action_id)) return ack();
    const isMenu = action.action_id === MENU_ACTION;
    // An entry of a menu names its button; the button's value is the id of the block.
    const chosen = 'selected_option' in action ? action.selected_option?.value : undefined;
    const button = buttons.get((isMenu ? chosen : action.action_id) ?? '');
    const value = isMenu ? action.block_id : 'value' in action ? action.value : undefined;
    const clicker = callerOf(body, receivedMs());
    const reply = button ? await click(button, parseJson(value), clicker, body) : outdated.button;
    const { view } = body;
    if (reply !== undefined && view !== undefined && clicker.responseUrl === undefined) {
      // A click without a conversation, on Home or in a modal, gets a modal.
      const title = view.type === 'modal' ? view.title.text : 'Docket';
      await parts.openModal(clicker, noticeView(title, reply)).catch((error: unknown) => {
        log.warn({ err: error, user: clicker.user.id }, 'the answer to a click was not shown');
      });
    } else if (reply !== undefined) await answer(clicker, reply, threadOf(body));
    await ack();
  });

  app.shortcut(ANY, async ({ ack, body }) => {
    const chooser = callerOf(body, receivedMs());
    const shortcut = body.type === 'message_action' ? shortcuts.get(body.callback_id) : undefined;
    const reply =
      shortcut && body.type === 'message_action'
        ? await gate.pass('shortcut', shortcut.callbackId, shortcut.may, chooser, (...passed) =>
            shortcut.run(messageOf(body), ...passed),
          )
        : outdated.shortcut;
    if (reply !== undefined) await answer(chooser, reply);
    await ack();
  });

  app.view<ViewSubmitAction>({ callback_id: ANY, type: 'view_submission' }, async ({ ack, body, view }) => {
    const receivedAtMs = receivedMs();
    const update = (message: Message) =>
      ack({ response_action: 'update', view: noticeView(view.title.text, message) });
    const modal = modals.get(view.callback_id);
    const origin = modalOrigin.safeParse(parseJson(view.private_metadata)).data;
    const about = (modal?.about ?? z.unknown()).safeParse(origin?.about);
    const fields = modalFields.safeParse(view.state?.values);
    if (modal === undefined || origin === undefined || !about.success || !fields.success)
      return update(outdated.modal);
    const submitter = callerOfModal(body, origin, receivedAtMs);
    const { values, ticked } = valuesOf(fields.data);
    const result = await gate.pass(
      ...(['modal', modal.callbackId, modal.may, submitter] as const),
      (caller, tools) => modal.submit(values, caller, tools, { ticked, about: about.data }),
    );
    if (!('kind' in result)) return update(result);
    if (result.kind === 'problems') return ack({ response_action: 'errors', errors: result.problems });
    if (result.kind === 'view') {
      const next = withOrigin(result.view, { ...origin, about: result.about });
      return ack({ response_action: 'update', view: next });
    }
    const reply = result.answer;
    if (reply === undefined) return ack();
    // Buttons work in the conversation of the command; in a modal their answers would have no place.
    if (submitter.responseUrl !== undefined && (await answer(submitter, reply))) return ack();
    return update(reply);
  });

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
const doneInThread = message(['Done. The result appears in its thread.']);

const byName = <Entry>(entries: readonly Entry[], nameOf: (entry: Entry) => string) =>
  new Map(entries.map((entry) => [nameOf(entry), entry]));

function messageOf({ message, message_ts: ts, action_ts: chosenTs }: MessageShortcut): ShortcutMessage {
  const { thread_ts: threadTs, text, blocks, attachments } = message;
  const inThread = typeof threadTs === 'string' && threadTs !== ts;
  return { ts, ...(inThread && { threadTs }), content: { text, blocks, attachments }, chosenTs };
}

const option = z.object({ value: z.string() });

/** The fields of a submitted modal, by block id. Each block has one input. */
const modalFields = z.record(
  z.string(),
  z.record(
    z.string(),
    z.object({
      value: z.string().nullish(),
      selected_option: option.nullish(),
      selected_conversation: z.string().nullish(),
      selected_time: z.string().nullish(),
      selected_options: z.array(option).nullish(),
    }),
  ),
);

/** The typed and chosen values, and those of ticked checkboxes. */
function valuesOf(fields: z.infer<typeof modalFields>) {
  const values: ModalValues = {};
  const ticked: Record<string, string[]> = {};
  for (const [blockId, inputs] of Object.entries(fields)) {
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

/** From a click, a shortcut or a modal. A modal, Home and a workspace-wide shortcut have no channel and no response URL. */
function callerOf(body: BlockAction | SlackShortcut | ViewSubmitAction, receivedAtMs: number): Caller {
  const { id, team_id, ...user } = body.user;
  const { name = '', username = name }: { name?: string; username?: string } = user;
  const view = 'actions' in body ? body.view : undefined;
  const channel = 'channel' in body ? body.channel : undefined;
  return {
    teamId: body.team?.id ?? team_id ?? '',
    user: { id, name: username || id, fullMember: false },
    channel: { id: channel?.id ?? '', name: channel?.name ?? '' },
    requestId: body.trigger_id,
    triggerId: body.trigger_id,
    ...(view?.type === 'modal' && { modalId: view.id }),
    responseUrl: 'response_url' in body ? body.response_url : undefined,
    receivedAtMs,
  };
}

/**
 * From a submitted modal: a repeat has the same view id. For people of other organizations `team` is theirs, and only
 * the view names the workspace of the app (bolt-js#1614).
 */
function callerOfModal(body: ViewSubmitAction, { channel, responseUrl }: ModalOrigin, receivedAtMs: number) {
  const caller = callerOf(body, receivedAtMs);
  const teamId = body.view.app_installed_team_id || caller.teamId;
  return { ...caller, teamId, channel, requestId: `view ${body.view.id}`, responseUrl };
}

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
    about?: unknown,
  ): Promise<undefined> => {
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
