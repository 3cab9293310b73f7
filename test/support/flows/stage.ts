import { afterAll, afterEach, beforeAll } from 'vitest';
import { labelsOf } from '../../../demo/slack/controls.ts';
import type { SentMessage } from '../../../demo/slack/workspace.ts';
import { messageWith, notified, plain, sees, until } from './reading.ts';
import { type BotOptions, createWorld, type World, type WorldOptions } from './world.ts';

type PersonName = Parameters<World['slack']['person']>[0];
type Answer = Awaited<ReturnType<ReturnType<World['slack']['person']>['types']>>;

/** A world that the tests of a describe share one after the other, each finding it as new, and how they speak of it. */
export interface Stage {
  readonly world: World;
  readonly slack: World['slack'];
  readonly platform: World['platform'];
  person(name: PersonName): ReturnType<World['slack']['person']>;
  /** Types a command in #docs unless told elsewhere; ana does unless it is somebody else. */
  asks(text?: string, options?: { where?: string; who?: PersonName }): Promise<Answer>;
  /** The same for an export, and waits until it has got as far as it gets before `platform.finish`. */
  exporting(text?: string, options?: { where?: string; who?: PersonName }): Promise<void>;
  /** What somebody was told privately, in answer to a command. */
  told(answer: Answer): string | undefined;
  /** The same for a click: the newest private answer in a place. */
  toldLast(who: PersonName, where?: string): string | undefined;
  /** Clicks this button of the newest message that has it and says this; waits until there is one. */
  clicks(who: PersonName, part: string, button: string): Promise<Answer>;
  sees(where?: string, who?: PersonName): string[];
  until(parts: string[], where?: string, who?: PersonName): Promise<string[]>;
  messageWith(part: string): ReturnType<typeof messageWith>;
  notified(who: PersonName): number;
  /** What the bot did on each audit line, oldest first: `<name> <what> <subject> → <result>`. */
  audit(): Promise<string[]>;
}

export interface StageOptions extends WorldOptions {
  /** What its bot is started with; as a function, where it depends on the world. */
  bot?: BotOptions | ((world: World) => BotOptions);
}

/** Sets the stage for the tests of the describe that it is called in. */
export function stage({ bot, ...options }: StageOptions = {}): Stage {
  let world: World;
  beforeAll(async () => {
    world = await createWorld(options);
    await world.startBot(typeof bot === 'function' ? bot(world) : bot);
    if (options.transport === 'socket') await world.slack.until(() => world.slack.sockets.open === 2);
  });
  afterEach(() => world.forget());
  afterAll(() => world.close());

  return stageOf(() => world);
}

/** How tests speak of a world that they set up themselves. */
export function stageOf(current: () => World): Stage {
  const person = (name: PersonName) => current().slack.person(name);
  return {
    get world() {
      return current();
    },
    get slack() {
      return current().slack;
    },
    get platform() {
      return current().platform;
    },
    person,
    asks: (text = '/docs-export docs.acme.com', { where = '#docs', who = 'ana' } = {}) =>
      person(who).types(where, text),
    async exporting(text = '/docs-export docs.acme.com', { where = '#docs', who = 'ana' } = {}) {
      const { slack } = current();
      const before = new Set(slack.messages);
      await person(who).types(where, text);
      // The line of an export that just ended may still be there.
      const isProgress = (message: SentMessage) =>
        !before.has(message) && slack.read(message).includes('42%');
      await slack.until(() => slack.messages.some(isProgress), undefined, 'the progress of the export');
    },
    told: (answer) => answer.ephemeral && plain(current().slack.read(answer.ephemeral)),
    toldLast(who, where = '#docs') {
      const { id } = current().slack.channel(where);
      const { ephemerals } = current().slack;
      const last = ephemerals.findLast(({ to, channel }) => to === person(who).id && channel === id);
      return last && plain(current().slack.read(last));
    },
    async clicks(who, part, button) {
      const { slack } = current();
      const here = (message: SentMessage) =>
        !message.deleted &&
        slack.read(message).includes(part) &&
        labelsOf(message.blocks).some((label) => label.replace(/^⋯ /, '') === button);
      const found = await slack.until(
        () => slack.messages.findLast(here),
        undefined,
        `[${button}] by ${part}`,
      );
      return person(who).clicks(found, button);
    },
    sees: (where = '#docs', who = 'ana') => sees(current(), where, who),
    until: (parts, where = '#docs', who = 'ana') => until(current(), where, parts, who),
    messageWith: (part) => messageWith(current(), part),
    notified: (who) => notified(current(), who),
    async audit() {
      const lines = (key: string) => current().redis.client.xrange(key, '-', '+');
      const { id } = current().slack.team;
      const both = [await lines(`{docket}:audit:${id}`), await lines(`{docket}:audit-refused:${id}`)];
      // Their ids are times and counts.
      const entries = both.flat().sort(([a], [b]) => a.localeCompare(b, 'en', { numeric: true }));
      return entries.map(([, [, json]]) => {
        const { user, what, subject, result } = JSON.parse(json ?? '{}');
        return `${user.name} ${what} ${subject} → ${result}`;
      });
    },
  };
}
