import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { Call, Phase } from '../../demo/wire.ts';
import { keys } from '../../src/store/keys.ts';
import { agentsOn } from '../support/flows/agent-stage.ts';
import { addSite } from '../support/flows/site.ts';
import { stageOf } from '../support/flows/stage.ts';
import { holdAt, lose } from '../support/flows/strike-at.ts';
import type { Place } from '../support/flows/trouble.ts';
import { createWorld } from '../support/flows/world.ts';

const PREVIEW = 'POST /v1/project/preview/{projectId}';
const UPDATE = 'POST /v1/project/update/{projectId}';
const STATUS = 'GET /v1/project/update-status/{statusId}';
const EXPORT = 'POST /v1/static-export/jobs';

/** An outside call of a preview, of an update, or of a scheduled export after an update, and which one of that name. */
interface Moment {
  of: 'preview' | 'update' | 'export';
  name: string;
  nth: number;
}

const phases = ['before', 'after'] as const;
const momentsOf = (of: Moment['of'], ...calls: [name: string, nth: number][]): Moment[] =>
  calls.map(([name, nth]) => ({ of, name, nth }));

const builds = [
  // The card of a followed thread shows its preview, so the ending is the only post.
  ...momentsOf('preview', [PREVIEW, 1], [STATUS, 1], ['chat.update', 1], ['chat.postMessage', 1]),
  ...momentsOf('update', [UPDATE, 1], [STATUS, 1], ['chat.update', 1]),
  ...momentsOf('update', ['chat.postMessage', 1], ['chat.postMessage', 2]),
];
/** From the poll that shows the end of the update. */
const exports = momentsOf(
  'export',
  [STATUS, 1],
  ...([2, 3, 4] as const).map((nth): [string, number] => ['chat.postMessage', nth]),
  [EXPORT, 1],
  ['GET /v1/static-export/jobs/{jobId}', 1],
  ['chat.update', 2],
);

/** The first update and its export are shown by three posts. */
const isInSecond = ({ of, name, nth }: Moment) => of === 'export' && name === 'chat.postMessage' && nth === 4;

const fast = { durationMs: 100 };
const LONG_MS = 120_000;
const many = { postsPerMinute: 6000, editsPerMinute: 6000, readsPerMinute: 6000 };

/** A world with a site, a channel and a project for each of these moments. */
async function createSites(moments: Moment[]) {
  const world = await createWorld({
    processes: true,
    slack: { rateLimits: false },
    platform: { exportPlan: fast, buildPlan: fast },
    // What a bot owes that is killed.
    mayViolate: /: no answer (?:in time|within 3000 ms)$/,
  });
  const { slack, platform } = world;
  const scene = stageOf(() => world);
  const agents = agentsOn(scene);
  const ana = scene.person('ana');
  const places = new Map(moments.map((moment, n) => [moment, addSite(world, `site-${n}`)]));
  const placeOf = (moment: Moment) => places.get(moment) as Place;
  const channelOf = (moment: Moment) => slack.channel(placeOf(moment).where).id;
  const branchOf = (moment: Moment) => `agent/${placeOf(moment).domain}`;
  const sees = (moment: Moment) => scene.sees(placeOf(moment).where);
  const projects = moments.map((moment, n) => {
    const { domain } = placeOf(moment);
    return `  p${n}: { projectId: ${platform.projectId}, domains: [${domain}], channels: [${channelOf(moment)}] }`;
  });
  const config = ['projects:', ...projects, 'limits: { exportStatusPerSecond: 100 }', ''].join('\n');

  /** Whose update starts next: its call does not say. */
  let starting: Moment | undefined;
  const updates = new Map<string, Moment | undefined>();
  platform.wire.onCall(({ name }, at) => {
    const build = platform.site.builds.at(-1);
    if (name === UPDATE && at === 'after' && build) updates.set(build.statusId, starting);
  });
  const buildsOf = (moment: Moment) =>
    platform.site.builds.filter(
      ({ statusId, branch }) => updates.get(statusId) === moment || branch === branchOf(moment),
    );

  /** Whether a call is for the site of a moment. */
  function isOf(moment: Moment, { name, detail }: Call) {
    const { domain } = placeOf(moment);
    const body = (detail.body ?? {}) as { branch?: string; domain?: string };
    return (
      detail.channel === channelOf(moment) ||
      [body.domain, platform.exports.get(String(detail.jobId))?.domain].includes(domain) ||
      body.branch === branchOf(moment) ||
      buildsOf(moment).some(({ statusId }) => statusId === detail.statusId) ||
      (name === UPDATE && starting === moment)
    );
  }

  /** How many exports of its site people see as done. */
  const exportedIn = (moment: Moment) =>
    sees(moment).filter((text) => /^✅ Exported · .*, took/u.test(text)).length;

  async function updatesSite(moment: Moment) {
    starting = moment;
    await scene.asks('/docs-site update', { where: placeOf(moment).where });
  }

  /** Begins the story of a moment. Returns what comes next, in which its calls count. */
  async function begin(moment: Moment) {
    const { where, domain } = placeOf(moment);
    if (moment.of === 'preview') {
      const { card } = await agents.follows({ where, seed: { ref: branchOf(moment) } });
      return () => ana.clicks(card, 'Build preview');
    }
    if (moment.of === 'export') {
      await scene.asks('/docs-export schedule', { where });
      await ana.submits({ Domain: domain, Day: 'After each site update started in Slack' });
      await scene.until(['Not exported yet', '[Run now]'], where);
    }
    return () => updatesSite(moment);
  }

  /** Kills Docket once each of its calls stands still, before it takes effect or after; then starts another. */
  async function killAt(phase: Phase) {
    const patient = { slackCallMs: LONG_MS, docsCallMs: LONG_MS };
    const bot = await world.startBot({ config, timing: { ...many, ...patient } });
    const held = [];
    for (const moment of moments) {
      const goesOn = await begin(moment);
      const call = (one: Call) => one.name === moment.name && isOf(moment, one);
      const standing = holdAt([slack, platform], [[moment, { call, phase, nth: moment.nth }]]);
      await goesOn();
      if (isInSecond(moment)) {
        await slack.until(() => exportedIn(moment) === 1, 60_000, 'the first export');
        await goesOn();
      }
      await standing.allStand();
      held.push(...standing.held.values());
    }
    if (phase === 'before') lose([slack, platform], held);
    await bot.kill();
    for (const { goOn } of held) goOn();
    // Who starts after a kill soon takes over what the dead had in hand. A start has as long as elsewhere: its question counts.
    await world.startBot({ config, timing: { ...many, lockMs: 600, stalledMs: 100, sweepMs: 50 } });
    // An update whose line was struck has not started. Until it has, nobody else's may.
    const isUpdateLine = ({ of, name, nth }: Moment) =>
      of === 'update' && name === 'chat.postMessage' && nth === 1;
    const unstarted = moments.find((moment) => isUpdateLine(moment) || isInSecond(moment));
    if (unstarted === undefined) return;
    starting = unstarted;
    const begun = isInSecond(unstarted) ? 1 : 0;
    await slack.until(() => buildsOf(unstarted).length > begun, 20_000, 'the update whose line was struck');
  }

  return {
    world,
    killAt,
    buildsOf,
    updatesSite,
    sees,
    exportedIn,
    placeOf,
    exportsOf: (moment: Moment) => platform.starts.filter(({ domain }) => domain === placeOf(moment).domain),
    /** The keys of all that was posted in its channel. */
    posts: (moment: Moment) =>
      slack.messages
        .filter(({ channel, from }) => from === 'docket' && channel === channelOf(moment))
        .map(({ metadata }) => metadata?.event_payload.key),
    /** What people read in its channel, without what the bot took back. */
    shown: (moment: Moment) =>
      slack.messages
        .filter(({ channel, deleted }) => !deleted && channel === channelOf(moment))
        .map((message) => slack.read(message).split('\n')[0] ?? ''),
    async answers(moment: Moment, question: string, button: string) {
      const asks = slack.messages.findLast(
        (one) => one.channel === channelOf(moment) && !one.deleted && slack.read(one).includes(question),
      );
      if (asks === undefined) throw new Error(`Nobody asks "${question}" in ${placeOf(moment).where}`);
      starting = moment;
      return ana.clicks(asks, button);
    },
  };
}

type Sites = Awaited<ReturnType<typeof createSites>>;

/** Plays them before the tests of the describe that it is called in. */
function struck(moments: Moment[], phase: Phase): () => Sites {
  let sites: Sites;
  beforeAll(async () => {
    sites = await createSites(moments);
    await sites.killAt(phase);
  }, 120_000);
  afterAll(() => sites.world.close());
  return () => sites;
}

/** The cases of a world come one after the other; the worlds go on at once. */
const inTurn = { concurrent: false };

describe.concurrent.each(phases)('kill -9 of the bot, %s each outside call took effect', (phase) => {
  const current = struck(builds, phase);

  /** Waits for the end, and answers the question on the way to it. Nothing was done, or shown, twice. */
  test.each(builds)('$name $nth: one $of', inTurn, async (moment) => {
    const { world, placeOf, shown, answers, buildsOf } = current();
    const { domain } = placeOf(moment);
    const isPreview = moment.of === 'preview';
    const name = isPreview ? `agent/${domain}` : domain;
    const what = `${moment.of} of ${name}`;
    const texts = () =>
      shown(moment).filter(
        (text) =>
          text.includes(what) ||
          (text.includes(name) && /^\S* ?(?:@\w+ )?(?:Preview|Building preview|Updat)/.test(text)),
      );
    const has = (pattern: RegExp) => texts().some((text) => pattern.test(text));
    const isDone = () => has(/^✅ @\w+ (?:Preview ready|Updated)/);
    await world.slack.until(() => isDone() || has(/^❔ .*Did the/), 60_000, what);
    const isAsked = !isDone();
    if (isAsked) {
      expect(moment.name).toBe(isPreview ? PREVIEW : UPDATE);
      const button = phase === 'before' ? 'Start anyway' : "Don't start again";
      await answers(moment, `Did the ${what} start?`, button);
      const isOver = () =>
        phase === 'before' ? isDone() : has(/Not started again|chose not to start it again/);
      await world.slack.until(isOver, 60_000, what);
    }
    // A second message would come later.
    const due = () => world.redis.client.zrange(keys.activeRuns(), '0', '-1');
    const isOfThem = (one: string) => /^(?:site|outbox) /.test(one);
    await vi.waitFor(async () => expect((await due()).filter(isOfThem)).toEqual([]), {
      timeout: 30_000,
      interval: 20,
    });
    expect(buildsOf(moment)).toHaveLength(1);
    // An update has a line, too. The answer stands in the place of a question; if it is [Don't start again], no ending follows.
    expect(texts()).toHaveLength((isAsked && phase === 'before' ? 2 : 1) + (isPreview ? 0 : 1));
  });
});

describe.concurrent.each(phases)(
  'kill -9 of the bot at an export after an update, %s each outside call took effect',
  (phase) => {
    const current = struck(exports, phase);

    test.each(exports)('$name $nth: one export for each of two updates', inTurn, async (moment) => {
      const { world, sees, posts, answers, updatesSite, exportedIn, exportsOf, buildsOf } = current();
      const exported = (times: number) => () => exportedIn(moment) === times;
      const asked = () => sees(moment).some((text) => text.includes('❔ @ana Did the export'));
      await world.slack.until(() => exportedIn(moment) > 0 || asked(), 60_000, 'an export');
      const isAsked = asked();
      if (isAsked) {
        expect(moment.name).toBe(EXPORT);
        await answers(moment, 'Did the export', phase === 'before' ? 'Start anyway' : "Don't start again");
      }
      const first = isAsked && phase === 'after' ? 0 : 1;
      if (!isInSecond(moment)) {
        await world.slack.until(exported(first), 60_000, 'the first export');
        await updatesSite(moment);
      }
      await world.slack.until(exported(first + 1), 60_000, 'the second export');
      expect(exportsOf(moment)).toHaveLength(2);
      expect(posts(moment)).toEqual([...new Set(posts(moment))]);
      expect(buildsOf(moment)).toHaveLength(2);
    });
  },
);
