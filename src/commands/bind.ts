import type {
  AllMiddlewareArgs,
  App,
  BlockAction,
  SlackActionMiddlewareArgs,
  SlackCommandMiddlewareArgs,
} from '@slack/bolt';
import type { Log } from '../log.ts';
import type { Permission, Policy } from '../policy.ts';
import { type Message, message } from '../slack/blocks.ts';
import type { Identity } from '../slack/client.ts';
import type { AnswerPrivately } from '../slack/response-url.ts';
import type { ButtonAction, Caller, CommandTools, SlashCommand } from './command.ts';
import { TellUser } from './tell-user.ts';

export interface BindParts {
  commands: readonly SlashCommand[];
  buttons: readonly ButtonAction[];
  linkActions: readonly string[];
  tools: Omit<CommandTools, 'workspaceUrl'>;
  policy: Policy;
  /** Who the bot is; nothing while Slack has not told yet. */
  identity: () => Identity | undefined;
  answerPrivately: AnswerPrivately;
  answerMs: number;
  monotonicMs: () => number;
  newRef: () => string;
  log: Log;
}

const notPermitted = message([
  ["You can't start exports here, so nothing was started. Ask a full member of this workspace."],
]);
const notKnown = message([
  ["Slack didn't tell me in time who you are, so nothing was started. Try again in a moment."],
]);
const slackAway = message([
  ["I can't reach Slack's API right now, so nothing was started. Try again in a minute."],
]);
const otherWorkspace = message([['This Docket belongs to another workspace. Nothing was started.']]);
const outdated = message([
  [
    'This button is from another version of me and no longer works. Use a newer message, or type the command again.',
  ],
]);

/**
 * Makes Bolt listen for the registry. Every listener checks, enqueues and answers, then acknowledges; nothing is
 * done after that. Throws when two entries have one name.
 */
export function bind(app: App, parts: BindParts) {
  const { commands, buttons, linkActions, answerPrivately, answerMs, log } = parts;
  const names = [...commands.map(({ name }) => name), ...buttons.map(({ action }) => action), ...linkActions];
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`Two entries of the registry are called ${twice}`);

  for (const command of commands) {
    app.command(command.name, async ({ ack, body }: SlackCommandMiddlewareArgs & AllMiddlewareArgs) => {
      const answer = await handle(
        parts,
        command.name,
        command.may,
        callerOfCommand(body, parts),
        (caller, tools) =>
          body.text.trim() === 'help' ? helpMessage(command) : command.run(body.text, caller, tools),
      );
      await ack(answer && { response_type: 'ephemeral', ...answer });
    });
  }

  for (const button of buttons) {
    app.action(
      button.action,
      async ({ ack, body, action }: SlackActionMiddlewareArgs<BlockAction> & AllMiddlewareArgs) => {
        const caller = callerOfAction(body, parts);
        const answer = await handle(parts, button.action, button.may, caller, (known, tools) => {
          const value = button.value.safeParse(parseJson('value' in action ? action.value : undefined));
          return value.success ? button.run(value.data, known, tools) : outdated;
        });
        if (answer) await tell(caller, answer);
        await ack();
      },
    );
  }

  for (const action of linkActions) app.action(action, async ({ ack }) => ack());

  const known = [...buttons.map(({ action }) => action), ...linkActions].map((name) =>
    name.replaceAll('.', '\\.'),
  );
  app.action(new RegExp(`^(?!(?:${known.join('|')})$)`), async ({ ack, body }) => {
    await tell(callerOfAction(body as BlockAction, parts), outdated);
    await ack();
  });

  async function tell(caller: Caller, answer: Message) {
    const told = await answerPrivately(caller.responseUrl, answer, answerMs);
    if (!told) log.warn({ user: caller.user.id }, 'a private answer did not arrive');
  }
}

/** Who may not, or what went wrong, becomes a private answer here; a listener never throws. */
async function handle(
  parts: BindParts,
  what: string,
  may: Permission,
  stranger: Caller,
  run: (caller: Caller, tools: CommandTools) => Message | undefined | Promise<Message | undefined>,
): Promise<Message | undefined> {
  const { log, newRef, policy } = parts;
  const about = { what, user: stranger.user.id, channel: stranger.channel.id };
  try {
    const identity = parts.identity();
    if (identity === undefined) return slackAway;
    if (identity.teamId !== stranger.teamId) {
      log.warn({ ...about, team: stranger.teamId }, 'a request from another workspace');
      return otherWorkspace;
    }
    const verdict = await policy.check(stranger.user.id, may);
    if (verdict.kind !== 'allowed') {
      log.warn({ ...about, verdict: verdict.kind }, 'not permitted');
      return verdict.kind === 'refused' ? notPermitted : notKnown;
    }
    const caller = { ...stranger, user: { id: verdict.person.id, name: verdict.person.name } };
    const answer = await run(caller, { ...parts.tools, workspaceUrl: identity.url });
    log.info({ ...about, answered: answer !== undefined }, 'request');
    return answer;
  } catch (error) {
    if (error instanceof TellUser) return error.told;
    const ref = newRef();
    log.error({ ...about, err: error, ref }, 'a request broke');
    return message([[`Something broke on my side. ref ${ref}`]]);
  }
}

function helpMessage({ name, usage, summary, examples }: SlashCommand): Message {
  return message([
    [{ code: `${name} ${usage}` }],
    [summary],
    ...examples.map((example) => ['For example: ', { code: example }]),
  ]);
}

function callerOfCommand(body: SlackCommandMiddlewareArgs['body'], { monotonicMs }: BindParts): Caller {
  return {
    teamId: body.team_id,
    user: { id: body.user_id, name: body.user_name },
    channel: { id: body.channel_id, name: body.channel_name },
    requestId: body.trigger_id,
    responseUrl: body.response_url,
    receivedAtMs: monotonicMs(),
  };
}

function callerOfAction(body: BlockAction, { monotonicMs }: BindParts): Caller {
  return {
    teamId: body.team?.id ?? body.user.team_id ?? '',
    user: { id: body.user.id, name: body.user.username ?? body.user.name ?? body.user.id },
    channel: { id: body.channel?.id ?? '', name: body.channel?.name ?? '' },
    requestId: body.trigger_id,
    responseUrl: body.response_url,
    receivedAtMs: monotonicMs(),
  };
}

function parseJson(text: string | undefined): unknown {
  try {
    return JSON.parse(text ?? '');
  } catch {
    return undefined;
  }
}
