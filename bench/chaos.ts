import { parseArgs } from 'node:util';
import { createChaosWorld, seeded } from '../test/support/flows/agent-chaos.ts';
import { errorsLogged } from '../test/support/flows/agent-verdict.ts';
import { runFleetChaos } from '../test/support/flows/fleet-chaos.ts';
import { printTable, seconds } from './parts/table.ts';

/**
 * Exports and threads, while web and worker processes and Redis are killed, workers freeze until their locks have
 * lapsed, and calls fail on both sides: what is lost, started twice or posted twice.
 */
const { values } = parseArgs({
  options: {
    exports: { type: 'string', default: '300' },
    threads: { type: 'string', default: '20' },
    /** In each thread. */
    replies: { type: 'string', default: '12' },
    /** The longest pause between two requests or replies of one person. */
    gap: { type: 'string', default: '6' },
    kills: { type: 'string', default: '15' },
    'redis-kills': { type: 'string', default: '3' },
    freezes: { type: 'string', default: '4' },
    /** The longest pause between two strikes. */
    every: { type: 'string', default: '16' },
    /** In percent of the calls. */
    faults: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
  },
});
const seed = Number(values.seed);
const domains = Array.from({ length: Number(values.exports) }, (_, n) => `site-${n}.acme.com`);
const roles = ['web', 'web', 'worker', 'worker'] as const;
/** How long a worker that went silent keeps its jobs. */
const LOCK_MS = 8000;

console.log(
  `${domains.length} exports and ${values.threads} threads of ${values.replies} replies; two web and two worker processes on one Redis; seed ${seed}.\n`,
);
const chaos = await createChaosWorld('info', { roles, domains, timing: { lockMs: LOCK_MS } });
const outcome = await runFleetChaos(
  chaos,
  {
    domains,
    threads: Number(values.threads),
    replies: Number(values.replies),
    gapMs: Number(values.gap) * 1000,
    kills: Number(values.kills),
    redisKills: Number(values['redis-kills']),
    freezes: Number(values.freezes),
    frozenMs: 1.5 * LOCK_MS,
    everyMs: Number(values.every) * 1000,
    faultRate: Number(values.faults) / 100,
  },
  seeded(seed),
);
const { threads, starts, sends } = outcome;
const { slack, platform } = chaos.world;
const spoiled = (calls: typeof slack.wire.calls) => {
  const bad = calls.filter(({ outcome: end = 'hang' }) => !/^2|^404/.test(end)).length;
  return `${bad} of ${calls.length}`;
};
const none = (what: string, found: string[]) => ({
  what: `${what} (0)`,
  figure: String(found.length),
  held: found.length === 0,
});
const errors = [...errorsLogged(chaos.world)];

printTable([
  ...[...outcome.strikes].sort().map(([what, count]) => ({ what, figure: String(count) })),
  { what: 'calls to Slack that failed', figure: spoiled(slack.wire.calls) },
  { what: 'calls to the platform that failed', figure: spoiled(platform.wire.calls) },
  { what: 'exports started', figure: String(platform.starts.length) },
  { what: 'instructions that the platform took', figure: String(platform.agent.messages.length) },
  {
    what: 'questions about starts: left alone, started again',
    figure: `${starts.questions}: ${starts.leave}, ${starts.again}`,
  },
  {
    what: 'questions about instructions: left alone, sent again',
    figure: `${sends.questions}: ${sends.leave}, ${sends.again}`,
  },
  none('exports lost', outcome.lost),
  none('exports started twice', outcome.startedTwice),
  none('messages posted twice', outcome.postedTwice),
  none('instructions lost', [...threads.lost, ...threads.withoutOutcome]),
  none('instructions sent twice', [...threads.twice, ...threads.unwanted]),
  none('instructions out of order', threads.outOfOrder),
  none('questions left open', threads.openQuestions),
  { what: 'nothing under way in the end', figure: outcome.idle ? 'yes' : 'no', held: outcome.idle },
  none(
    'errors in the log',
    errors.map(([words]) => words),
  ),
  { what: 'from the first request to the end', figure: seconds(outcome.seconds * 1000) },
]);
const found = { ...threads, lost: [...outcome.lost, ...threads.lost], startedTwice: outcome.startedTwice };
for (const [kind, list] of Object.entries(found))
  for (const one of list.slice(0, 5)) console.log(`${kind}: ${one}`);
for (const [words, count] of errors.slice(0, 10)) console.log(`${count} × ${words}`);
await chaos.world.close();
