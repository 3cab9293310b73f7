import { afterEach, expect } from 'vitest';
import type { PageFeedback, Search } from '../../../demo/docs-platform/readers.ts';
import type { Chosen } from '../../../demo/slack/choice.ts';
import type { Ephemeral, SentMessage } from '../../../demo/slack/workspace.ts';
import { keys } from '../../../src/store/keys.ts';
import { parseMember } from '../../../src/store/run-scripts.ts';
import { type Stage, type StageOptions, stage } from './stage.ts';

export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
const WEEK_MS = 7 * DAY_MS;

/** Sunday 2026-09-20 12:00 UTC. The day after, 2026-W38 is over: 14–20 Sep. */
export const SUNDAY_MS = Date.UTC(2026, 8, 20, 12);

/** A world on a Sunday, with a site that has no pages but those that a test gives it. */
export const digestWorld = {
  startMs: SUNDAY_MS,
  platform: { pages: 0, analyticsPerHour: 100_000 },
  bot: { env: { DOCS_DOMAIN: 'docs.acme.com' }, config: 'limits: { analyticsPerHour: 10000 }\n' },
} satisfies StageOptions;

/** Where ana is. */
export const BERLIN = 'Europe/Berlin';

type PersonName = Parameters<Stage['person']>[0];
interface Views {
  human: number;
  ai: number;
}

export const dayAfter = (day: string, days: number) =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * DAY_MS).toISOString().slice(0, 10);

/**
 * Sets the stage for the tests of the describe that it is called in, and has them wait for all digests in the end.
 * Returns it as `scene`, with how they speak of what is on it.
 */
export function digestStage(options: StageOptions = digestWorld) {
  const scene = stage(options);
  const { asks, told, toldLast, person } = scene;
  const digests = digestsOn(scene);
  afterEach(digests.settled);
  return { scene, asks, told, toldLast, person, ...digests };
}

/** How tests speak of the digests on a stage. */
export function digestsOn(scene: Stage) {
  const { person } = scene;
  const { told } = scene;
  const read = (message: Parameters<Stage['slack']['read']>[0]) => scene.slack.read(message);

  /** Views of a page in a week, as many on each day. */
  function reads(path: string, week: string, { human, ai }: Views) {
    for (let day = 0; day < 7; day += 1)
      scene.platform.views.set(path, dayAfter(week, day), { human: human / 7, ai: ai / 7 });
  }

  /** The messages in a place that are not in a thread, the oldest first. */
  const roots = (where = '#docs') =>
    scene.slack.messages.filter(
      ({ channel, threadTs, deleted }) =>
        channel === scene.slack.channel(where).id && threadTs === undefined && !deleted,
    );

  const isDigest = (message: SentMessage) => /^📊 (?:Preview · )?\S+ · /u.test(read(message));

  const digests = (where = '#docs') => roots(where).filter(isDigest);

  const below = ({ channel, ts }: SentMessage) =>
    scene.slack.messages.filter(
      (one) => one.channel === channel && one.threadTs === ts && one.ts !== ts && !one.deleted,
    );

  /** Waits until the digest of these days is there, with everything in it, and answers it. */
  async function digest(days: string, { where = '#docs', has = [] as string[] } = {}) {
    const found = () => digests(where).findLast((message) => read(message).split('\n')[0]?.includes(days));
    return scene.slack.until(
      () => {
        const root = found();
        const all = root && [root, ...below(root)].map(read);
        return has.every((part) => all?.some((text) => text.includes(part))) && root;
      },
      20_000,
      `the digest of ${days} with ${has.join(' and ')}`,
    );
  }

  /** Waits until a text is in a private answer to somebody, and answers the newest such one. */
  const note = (who: PersonName, part: string) =>
    scene.slack.until(
      () =>
        scene.slack.ephemerals.findLast(
          (one) => one.to === person(who).id && !one.deleted && read(one).includes(part),
        ),
      20_000,
      part,
    );

  /** Waits until a message in a place, or in a thread there, has this text, and answers the newest such one. */
  const post = (part: string, where = '#docs') =>
    scene.slack.until(
      () =>
        scene.slack.messages.findLast(
          (one) => one.channel === scene.slack.channel(where).id && !one.deleted && read(one).includes(part),
        ),
      20_000,
      `${part} in ${where}`,
    );

  const jobsAtWork = async () => {
    const members = await scene.world.redis.client.zrange(keys.activeRuns(), 0, '-1');
    return members.map((member) => parseMember(member).job);
  };

  return {
    read,
    reads,
    roots,
    digests,
    below: (root: SentMessage) => below(root).map(read),
    digest,
    note,
    post,

    /** How many requests for figures the platform had. */
    requests: () => Object.values(scene.platform.analyticsRequests()).reduce((sum, one) => sum + one, 0),

    /** Goes on to the Sunday noon after now, unless it is one, and answers the Monday of the week that ends then. */
    async toSunday(): Promise<string> {
      const since = (scene.world.now() - SUNDAY_MS) % WEEK_MS;
      if (since > HOUR_MS) await scene.world.jumpTo(scene.world.now() - since + WEEK_MS);
      return dayAfter(new Date(scene.world.now()).toISOString().slice(0, 10), -6);
    },

    /** Returns when it is so late in Berlin, as a time token reads that nobody's own zone is known for. */
    inBerlin(day: string, time: string): string {
      const at = Temporal.PlainDate.from(day).toZonedDateTime({ timeZone: BERLIN, plainTime: time });
      return `${at.toInstant().toString().slice(0, 16).replace('T', ' ')} UTC`;
    },

    /** Goes on to the next time that it is so late in Berlin on that day of the week; 1 is Monday. */
    async toBerlin(weekday: number, time: string) {
      const now = Temporal.Instant.fromEpochMilliseconds(Math.floor(scene.world.now()));
      const here = now.toZonedDateTimeISO(BERLIN);
      for (let days = 0; ; days += 1) {
        const next = here.add({ days }).withPlainTime(time);
        if (next.dayOfWeek !== weekday || next.epochMilliseconds <= scene.world.now()) continue;
        return scene.world.jumpTo(next.epochMilliseconds);
      }
    },

    /** Has all that waits look again until this is so: the longer ago something began, the longer it waits. */
    untilWoken: (isSo: () => boolean) =>
      expect
        .poll(
          async () => {
            await scene.world.jumpTo(scene.world.now());
            return isSo();
          },
          { timeout: 60_000 },
        )
        .toBe(true),

    /** Lets time pass until this is so. An answer from before a jump may be read after it: then the next jump counts. */
    untilPassed: (stepMs: number, isSo: () => boolean) =>
      expect
        .poll(
          async () => {
            await scene.world.jumpTo(scene.world.now() + stepMs);
            return scene.slack.until(isSo, 3000).catch(() => false);
          },
          { timeout: 60_000 },
        )
        .toBe(true),

    /** Waits until all digests have ended: what is forgotten in the middle of it would be done again. */
    settled: () =>
      expect
        .poll(async () => {
          const jobs = await jobsAtWork();
          return jobs.filter((job) => ['digest', 'digest-figures'].includes(job));
        })
        .toEqual([]),

    /** Waits until a digest is being made: until then, one that is long overdue would be skipped. */
    begun: () => expect.poll(jobsAtWork).toContain('digest'),

    /**
     * Sets up a digest, and waits until it is: Mondays 09:00 in Berlin, in #docs, unless the fields say else. Answers the
     * list that has its buttons.
     */
    async creates(values: Record<string, Chosen> = {}, { who = 'ana' as PersonName, where = '#docs' } = {}) {
      await scene.asks('/docs-digest create', { who, where });
      // On a busy machine nobody's own zone may be there in time for the modal.
      const answer = await person(who).submits({ Channel: where, 'Time zone': BERLIN, ...values });
      expect(answer).toMatchObject({ ok: true });
      expect(answer.errors).toBeUndefined();
      let list: Ephemeral | undefined;
      await expect
        .poll(async () => {
          const listed = await scene.asks('/docs-digest list', { who, where });
          list = listed.ephemeral;
          return told(listed);
        })
        .toMatch(/^(?!.*being set up).*next TIME/s);
      if (list === undefined) throw new Error('nothing is listed');
      return list;
    },

    /** Clicks [Ask the agent] under the tables of a digest, or below the first of its rows about this. */
    async asksAgent(who: PersonName, root: SentMessage, about: 'pages' | 'searches' | 'thumbs') {
      const isOf = (block: SentMessage['blocks'][number]) =>
        JSON.stringify(block).includes(`\\"about\\":\\"${about}\\"${about === 'pages' ? '}' : ','}`);
      const shown = below(root).find(({ blocks }) => blocks.some(isOf));
      if (shown === undefined) throw new Error(`Nothing asks about ${about}`);
      return person(who).clicks({ ...shown, blocks: shown.blocks.filter(isOf).slice(0, 1) }, 'Ask the agent');
    },

    searched: (week: string, searches: Search[]) => scene.platform.readers.setSearches(week, searches),
    rated: (week: string, feedback: PageFeedback[]) => scene.platform.readers.setFeedback(week, feedback),
    /** Nobody searched, rated or asked anything in these weeks. */
    quiet(...weeks: string[]) {
      for (const week of weeks) scene.platform.readers.silence(week, dayAfter(week, 7));
    },
  };
}
