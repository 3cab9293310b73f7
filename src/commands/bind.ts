import type {
  AllMiddlewareArgs,
  App,
  BlockAction,
  MessageShortcut as ChosenMessage,
  SlackActionMiddlewareArgs,
  SlackCommandMiddlewareArgs,
  SlackEventMiddlewareArgs,
  SlackShortcutMiddlewareArgs,
  SlackViewMiddlewareArgs,
  ViewOutput,
  ViewSubmitAction,
} from '@slack/bolt';
import type { Log } from '../runtime/log.ts';
import type { Message } from '../slack/blocks.ts';
import type { Identity } from '../slack/client.ts';
import { noticeView } from '../slack/modals.ts';
import { installedTeamId } from '../slack/reply.ts';
import type { EphemeralMessage, PostEphemeral } from '../slack/response-url.ts';
import { callerOfAction, callerOfCommand, callerOfModal, callerOfShortcut } from './callers.ts';
import type { SlashCommand } from './command.ts';
import type { ButtonAction, MessageShortcut, Modal, ModalValues, ShortcutMessage } from './feature.ts';
import { type Gate, outdated } from './gate.ts';
import type { Caller } from './tools.ts';

export interface BindParts {
  commands: readonly SlashCommand[];
  buttons: readonly ButtonAction[];
  modals: readonly Modal[];
  linkActions: readonly string[];
  shortcuts: readonly MessageShortcut[];
  gate: Gate;
  /** Who the bot is; nothing while Slack has not told yet. */
  identity: () => Identity | undefined;
  /** Somebody opened the Home tab. Rejects when it cannot be brought up to date; Slack then tells again. */
  onHomeOpened: (teamId: string, userId: string) => Promise<void>;
  /**
   * A `message` or `app_mention` event, with the request's body around it. Rejects when it could not be kept; Slack
   * then tells again.
   */
  onMessageEvent: (event: unknown, envelope: unknown) => Promise<void>;
  /** The address for answers of the request that opened a dialog, while it is known. */
  responseUrlOf: (request: string) => Promise<string | undefined>;
  postEphemeral: PostEphemeral;
  ephemeralTimeoutMs: number;
  monotonicMs: () => number;
  log: Log;
}

/**
 * Makes Bolt listen for the registry. Every listener checks, enqueues and answers, then acknowledges; nothing is
 * done after that. Throws when two entries have one name.
 */
export function bind(app: App, parts: BindParts) {
  const { commands, buttons, modals, linkActions, shortcuts } = parts;
  const { gate, postEphemeral, ephemeralTimeoutMs, monotonicMs, log } = parts;
  const names = [
    ...commands.map(({ name }) => name),
    ...buttons.map(({ action }) => action),
    ...modals.map(({ callbackId }) => callbackId),
    ...linkActions,
    ...shortcuts.map(({ callbackId }) => callbackId),
  ];
  const duplicate = names.find((name, index) => names.indexOf(name) !== index);
  if (duplicate !== undefined) throw new Error(`Two entries of the registry are called ${duplicate}`);

  for (const command of commands) {
    app.command(command.name, async ({ ack, body }: SlackCommandMiddlewareArgs & AllMiddlewareArgs) => {
      const caller = callerOfCommand(body, monotonicMs());
      const result = await gate.pass(command.name, command.may, caller, (known, tools) =>
        command.run(body.text, known, tools),
      );
      const reply = result.kind === 'refused' ? result.message : result.value;
      await ack(reply && { response_type: 'ephemeral', ...reply });
    });
  }

  for (const button of buttons) {
    app.action(
      button.action,
      async ({ ack, body, action }: SlackActionMiddlewareArgs<BlockAction> & AllMiddlewareArgs) => {
        const caller = callerOfAction(body, monotonicMs());
        const result = await gate.pass(button.action, button.may, caller, async (known, tools) => {
          const value = button.value.safeParse(parseJson('value' in action ? action.value : undefined));
          return value.success ? button.run(value.data, known, tools) : outdated.button;
        });
        const reply = result.kind === 'refused' ? result.message : result.value;
        if (reply) await sendEphemeral(caller, reply);
        await ack();
      },
    );
  }

  for (const shortcut of shortcuts) {
    app.shortcut(
      { callback_id: shortcut.callbackId, type: 'message_action' },
      async ({ ack, body }: SlackShortcutMiddlewareArgs<ChosenMessage> & AllMiddlewareArgs) => {
        const caller = callerOfShortcut(body, monotonicMs());
        const result = await gate.pass(shortcut.callbackId, shortcut.may, caller, (known, tools) =>
          shortcut.run(messageOf(body), known, tools),
        );
        const reply = result.kind === 'refused' ? result.message : result.value;
        if (reply) await sendEphemeral(caller, reply);
        await ack();
      },
    );
  }

  for (const modal of modals) {
    app.view(
      { callback_id: modal.callbackId, type: 'view_submission' },
      async ({ ack, body, view }: SlackViewMiddlewareArgs<ViewSubmitAction> & AllMiddlewareArgs) => {
        const receivedAtMs = monotonicMs();
        const meta = modal.meta.safeParse(parseJson(view.private_metadata));
        const update = (message: Message) =>
          ack({ response_action: 'update', view: noticeView(view.title.text, message) });
        if (!meta.success) return update(outdated.modal);
        const responseUrl = await parts.responseUrlOf(meta.data.request);
        const caller = callerOfModal(body, meta.data, responseUrl, receivedAtMs);
        const result = await gate.pass(modal.callbackId, modal.may, caller, (known, tools) =>
          modal.submit(modalValues(view), meta.data, known, tools),
        );
        if (result.kind === 'refused') return update(result.message);
        const { value } = result;
        if (value.kind === 'problems') {
          return ack({ response_action: 'errors', errors: value.problems });
        }
        if (value.kind === 'closed') return ack();
        // Buttons work where the command was typed; in a dialog their answers would have no place.
        if (responseUrl !== undefined && (await sendEphemeral(caller, value.message))) return ack();
        return update(value.message);
      },
    );
  }

  app.event(
    'app_home_opened',
    async ({ event, body }: SlackEventMiddlewareArgs<'app_home_opened'> & AllMiddlewareArgs) => {
      const teamId = ourTeam(body);
      if (teamId !== undefined && event.tab === 'home') await parts.onHomeOpened(teamId, event.user);
    },
  );

  for (const name of ['message', 'app_mention'] as const) {
    app.event(name, async ({ event, body }) => {
      if (ourTeam(body) !== undefined) await parts.onMessageEvent(event, body);
    });
  }

  for (const action of linkActions) app.action(action, async ({ ack }) => ack());

  // What an update has renamed would else be shown as broken after 3 s.
  app.command(noneOf(commands.map(({ name }) => name)), async ({ ack }) =>
    ack({ response_type: 'ephemeral', ...outdated.command }),
  );
  app.action(noneOf([...buttons.map(({ action }) => action), ...linkActions]), async ({ ack, body }) => {
    await sendEphemeral(callerOfAction(body as BlockAction, monotonicMs()), outdated.button);
    await ack();
  });
  app.shortcut(
    { callback_id: noneOf(shortcuts.map(({ callbackId }) => callbackId)) },
    async ({ ack, body }: SlackShortcutMiddlewareArgs & AllMiddlewareArgs) => {
      // One of the whole workspace has no address for answers.
      const responseUrl = 'response_url' in body ? body.response_url : undefined;
      await sendEphemeral({ user: body.user, responseUrl }, outdated.shortcut);
      await ack();
    },
  );
  app.view(
    { callback_id: noneOf(modals.map(({ callbackId }) => callbackId)), type: 'view_submission' },
    async ({ ack, view }: SlackViewMiddlewareArgs<ViewSubmitAction> & AllMiddlewareArgs) =>
      ack({ response_action: 'update', view: noticeView(view.title.text, outdated.modal) }),
  );

  /**
   * Returns the workspace that this Docket belongs to when the event is of that one. Throws while Slack has not told
   * which one it is: Slack then tells the event again.
   */
  function ourTeam(envelope: unknown): string | undefined {
    const identity = parts.identity();
    if (identity === undefined) throw new Error('an event came before Slack told who the bot is');
    const team = installedTeamId(envelope);
    if (team === identity.teamId) return team;
    log.warn({ team }, 'an event of another workspace was ignored');
    return undefined;
  }

  async function sendEphemeral(
    { user, responseUrl }: Pick<Caller, 'responseUrl'> & { user: { id: string } },
    result: EphemeralMessage,
  ): Promise<boolean> {
    const reply = responseUrl !== undefined && (await postEphemeral(responseUrl, result, ephemeralTimeoutMs));
    if (!reply) log.warn({ user: user.id }, 'a private answer did not arrive');
    return reply;
  }
}

/** Matches every name but these. */
const noneOf = (names: readonly string[]) => new RegExp(`^(?!(?:${names.map(RegExp.escape).join('|')})$)`);

function messageOf({ message, message_ts: ts }: ChosenMessage): ShortcutMessage {
  const { thread_ts: threadTs, text, blocks, attachments } = message;
  const inThread = typeof threadTs === 'string' && threadTs !== ts;
  return { ts, ...(inThread && { threadTs }), content: { text, blocks, attachments } };
}

/** What the fields of a submitted dialog hold: each block has one input. */
function modalValues({ state }: ViewOutput): ModalValues {
  const values = Object.entries(state.values).flatMap(([blockId, inputs]) => {
    const input = Object.values(inputs)[0];
    const value = input?.value ?? input?.selected_option?.value ?? '';
    return value.trim() === '' ? [] : [[blockId, value] as const];
  });
  return Object.fromEntries(values);
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
