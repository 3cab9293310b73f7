import type { AgentOutcome, AgentPlan, AgentSeed } from '../../../demo/docs-platform/agent-jobs.ts';
import type { Ephemeral, SentMessage } from '../../../demo/slack/workspace.ts';
import { plain } from './reading.ts';
import type { Stage } from './stage.ts';

export const SEND = 'POST /v2/agent/{projectId}/job/{jobId}/message';
export const CREATE = 'POST /v2/agent/{projectId}/job';
export const LOOK = 'GET /v2/agent/{projectId}/job/{jobId}';

type PersonName = Parameters<Stage['person']>[0];

/** A thread that follows an agent job. */
export interface Followed {
  jobId: string;
  card: SentMessage;
}

/** How tests speak of the threads on a stage that follow agent jobs. */
export function agentsOn(scene: Stage) {
  const { person } = scene;
  const read = (message: SentMessage | Ephemeral) => plain(scene.slack.read(message));

  const isCard = (message: SentMessage) => /\[(?:⋯ )?Details\]/u.test(read(message));

  /** What the platform took, oldest first. */
  const instructions = () => scene.platform.agent.messages.map(({ prompt }) => prompt);

  /** The newest card in a place, once it says `state`; `after` are cards that it is not. */
  const card = (where: string, state: string, after: SentMessage[] = []) =>
    scene.slack.until(
      () =>
        scene.slack.messages.findLast(
          (message) =>
            message.channel === scene.slack.channel(where).id &&
            !after.includes(message) &&
            !message.deleted &&
            isCard(message) &&
            read(message).replace(/^\S+ /u, '').startsWith(`${state} · `),
        ),
      20_000,
      `a card that says ${state} in ${where}`,
    );

  const notes = (who: PersonName) =>
    scene.slack.ephemerals.filter(({ to, deleted }) => to === person(who).id && !deleted);

  /** The newest private answer to somebody that has this in it. */
  const note = (who: PersonName, part: string) =>
    scene.slack.until(() => notes(who).findLast((one) => read(one).includes(part)), 20_000, part);

  /** What everybody reads in the thread of a message, below it. */
  const below = (root: SentMessage) =>
    scene.slack.messages
      .filter(
        ({ channel, threadTs, deleted }) => channel === root.channel && threadTs === root.ts && !deleted,
      )
      .map(read);

  const shownOn = ({ reactions }: SentMessage) => reactions.map(({ name }) => name).join() || 'none';

  return {
    instructions,
    card,
    isCard,
    below,
    note,
    /** What somebody was told privately so far. */
    notes: (who: PersonName) => notes(who).map(read),
    read,

    /** Follows a job with `/docs-agent follow`, a new one unless it is named, and waits for its card. */
    async follows({
      where = '#docs',
      who = 'ana' as PersonName,
      seed = {} as AgentSeed,
      jobId = scene.platform.agent.add(seed),
      state = 'Ready',
    } = {}): Promise<Followed> {
      const before = [...scene.slack.messages];
      await scene.asks(`/docs-agent follow ${jobId}`, { where, who });
      return { jobId, card: await card(where, state, before) };
    },

    /** What the next instruction to the job does; the agent works on it until `finish` unless the plan says else. */
    plan: (jobId: string, plan: AgentPlan = { hold: true }) => scene.platform.agent.plan({ jobId, ...plan }),
    finish: (jobId: string, outcome?: AgentOutcome) => scene.platform.agent.finish(jobId, outcome),

    /** Writes in the thread of a message; ana does unless it is somebody else. */
    replies(
      root: SentMessage,
      text: string,
      { who = 'ana', ...rest }: { who?: PersonName; alsoToChannel?: boolean; files?: string[] } = {},
    ): Promise<SentMessage> {
      return person(who).says(root.channel, text, { threadTs: root.ts, ...rest });
    },

    /** Waits until the platform took so many, and answers them all. */
    sent: (count: number) =>
      scene.slack.until(
        () => instructions().length >= count && instructions(),
        20_000,
        `${count} instructions, and not only ${instructions().length},`,
      ),

    /** Waits until people see that a reply was taken: by the status in its thread, or by a reaction. */
    async takes(message: SentMessage) {
      const { channel, ts, threadTs = ts } = message;
      const root = scene.slack.messages.find((one) => one.channel === channel && one.ts === threadTs);
      const told = () => root && below(root).some((text) => /^(?:⏳|✅|➖|❌) /u.test(text));
      await scene.slack.until(() => told() || shownOn(message) === 'eyes', 20_000, `"${message.text}" taken`);
      await scene.slack.until(() => ['eyes', 'none'].includes(shownOn(message)));
    },

    /** Waits until the bot's reaction to a message is this one alone, or none. */
    async reacted(message: SentMessage, name: 'eyes' | 'double_vertical_bar' | 'none') {
      const shown = () => shownOn(message);
      await scene.slack.until(() => shown() === name, 20_000, `${name} on "${message.text}"`);
    },

    /** Waits until each of these is somewhere below the message, and answers all that is there then. */
    untilBelow: (root: SentMessage, ...parts: string[]) =>
      scene.slack.until(
        () => {
          const texts = below(root);
          return parts.every((part) => texts.some((text) => text.includes(part))) && texts;
        },
        20_000,
        parts.join(' and '),
      ),

    /** Clicks a button of the newest private answer to this person that has this in it. */
    async clicksNote(who: PersonName, part: string, button: string) {
      return person(who).clicks(await note(who, part), button);
    },

    /** Chooses Stop following in the menu of a card, and confirms it. */
    async stops(root: SentMessage, who: PersonName = 'ana') {
      await person(who).clicks(root, 'Stop following');
      await person(who).clicks(await note(who, 'Stop following?'), 'Stop following');
    },

    /** Answers the question about earlier messages: they are not sent. */
    async sendsAlone(who: PersonName = 'ana') {
      return person(who).clicks(await note(who, '[Send only mine]'), 'Send only mine');
    },
  };
}
