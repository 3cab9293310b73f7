import { parseArgs } from 'node:util';
import { runChaosPlan } from '../test/support/flows/chaos.ts';
import { errorsLogged } from '../test/support/flows/reading.ts';
import { printTable, seconds } from './parts/table.ts';

/**
 * Exports and followed threads through kills of bots and of Redis, processes that freeze and come back after their locks
 * have lapsed, and faults of every kind on both sides: what is lost, and what happens twice.
 */
const { values } = parseArgs({
  options: {
    exports: { type: 'string', default: '300' },
    threads: { type: 'string', default: '20' },
    replies: { type: 'string', default: '15' },
    kills: { type: 'string', default: '15' },
    'redis-kills': { type: 'string', default: '3' },
    freezes: { type: 'string', default: '4' },
    /** Percent of all calls. */
    faults: { type: 'string', default: '5' },
    minutes: { type: 'string', default: '3' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
  },
});
const minutes = Number(values.minutes);
console.log(`${values.exports} exports and ${values.threads} threads with ${values.replies} replies of their owner each, within ${minutes} min; seed ${values.seed}.
Two processes of the role web and two of the role worker, on one Redis that writes each command to disk (appendfsync always).
None of the limits of Slack and the platform, but what is injected.
`);
const outcome = await runChaosPlan({
  exports: Number(values.exports),
  threads: Number(values.threads),
  replies: Number(values.replies),
  kills: Number(values.kills),
  redisKills: Number(values['redis-kills']),
  freezes: Number(values.freezes),
  overMs: minutes * 60_000,
  durationMs: [3000, 30_000],
  faults: Number(values.faults) / 100,
  lockMs: 8000,
  seed: Number(values.seed),
  logLevel: 'info',
});
const { world, verdict, strikes, calls, answers } = outcome;
const errors = [...errorsLogged(world)];
const faults = [...outcome.faults].reduce((sum, [, count]) => sum + count, 0);
const none = (what: string, ...found: string[][]) => {
  const count = found.flat().length;
  return { what: `${what} (0)`, figure: String(count), held: count === 0 };
};

printTable([
  { what: 'exports', figure: values.exports },
  { what: 'instructions that the platform took', figure: String(world.platform.agent.messages.length) },
  ...[...strikes].sort().map(([kind, count]) => ({ what: kind, figure: String(count) })),
  {
    what: 'calls to Slack and the platform, of them with a fault',
    figure: `${calls}, ${faults} (${((100 * faults) / calls).toFixed(1)} %)`,
  },
  ...[...outcome.faults].sort().map(([kind, count]) => ({ what: `  ${kind}`, figure: String(count) })),
  ...[...answers].sort().map(([what, count]) => ({ what: `people: ${what}`, figure: String(count) })),
  none('lost', verdict.exportsLost, verdict.sendsLost, verdict.withoutOutcome),
  none('exports started twice', verdict.exportsStartedTwice, verdict.exportsAcceptedTwice),
  none('instructions sent twice', verdict.sentTwice),
  none('out of order, or not wanted', verdict.outOfOrder, verdict.unwanted),
  none(
    'updates lost, notified twice, or several current',
    verdict.updatesLost,
    verdict.notifiedTwice,
    verdict.severalCurrent,
  ),
  none('messages posted twice', verdict.postedTwice, verdict.shownTwice),
  none('questions left open', verdict.openQuestions),
  { what: 'nothing under way in the end', figure: outcome.idle ? 'yes' : 'no', held: outcome.idle },
  none(
    'errors in the log',
    errors.map(([words]) => words),
  ),
  { what: 'from the first request to the end', figure: seconds(outcome.seconds * 1000) },
]);
for (const [kind, found] of Object.entries(verdict))
  for (const one of found.slice(0, 5)) console.log(`${kind}: ${one}`);
for (const [words, count] of errors.slice(0, 10)) console.log(`${count} × ${words}`);
await world.close();
// Left to itself, Node 26 was seen to wait without end for connections that had been cut.
process.exit();
