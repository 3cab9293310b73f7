import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { runChaos } from '../test/support/flows/agent-chaos.ts';
import { createChaosWorld, errorsLogged, seeded } from '../test/support/flows/chaos-world.ts';
import { printTable, seconds } from './parts/table.ts';

/**
 * Many threads that follow agent jobs, with people writing in all of them, while processes and Redis are killed and
 * Slack and the platform fail: which instructions arrive, in which order, and what people see.
 */
const { values } = parseArgs({
  options: {
    threads: { type: 'string', default: '40' },
    /** In all. */
    replies: { type: 'string', default: '2000' },
    gap: { type: 'string', default: '5' },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1e6)) },
  },
});
const threads = Number(values.threads);
const replies = Math.ceil(Number(values.replies) / threads);
const seed = Number(values.seed);

console.log(`${threads} threads with ${replies} replies of their owner each, at most ${values.gap} s apart; seed ${seed}.
Bots: one each of the roles all, web and worker; none of the limits of Slack and the platform, but what is injected.
`);
const chaos = await createChaosWorld({ logLevel: 'info', roles: ['all', 'web', 'worker'] });
const pauses = monitorEventLoopDelay();
pauses.enable();
const outcome = await runChaos(
  chaos,
  { threads, replies, gapMs: Number(values.gap) * 1000, everyMs: 600, bareLimits: true },
  seeded(seed),
);
const { verdict, strikes, answers, written, taken, retries } = outcome;
const { wire } = chaos.world.platform;
const ended = (outcomes: string[], calls = wire.calls) =>
  calls.filter(({ name, outcome: end = '' }) => !name.startsWith('GET') && outcomes.includes(end)).length;
const slackCalls = chaos.world.slack.wire.calls;
const perReply = (...names: string[]) =>
  (slackCalls.filter(({ name }) => names.includes(name)).length / written).toFixed(2);
const none = (what: string, found: string[]) => ({
  what: `${what} (0)`,
  figure: String(found.length),
  held: found.length === 0,
});
const errors = [...errorsLogged(chaos.world)];

printTable([
  { what: 'replies', figure: String(written) },
  { what: 'instructions that the platform took', figure: String(taken) },
  ...[...strikes]
    .filter(([kind]) => kind.startsWith('kill'))
    .sort()
    .map(([kind, count]) => ({ what: kind, figure: String(count) })),
  { what: 'events that Slack had to tell again', figure: String(retries) },
  { what: 'sends answered with 429', figure: String(ended(['429'])) },
  { what: 'sends whose answer was lost', figure: String(ended(['reset', 'hang'])) },
  { what: 'sends answered with 5xx', figure: String(ended(['500', '502', '503'])) },
  { what: 'calls to Slack answered with 429', figure: String(ended(['429'], slackCalls)) },
  { what: 'calls to Slack without an answer', figure: String(ended(['reset', 'hang'], slackCalls)) },
  { what: 'calls to Slack answered with 5xx', figure: String(ended(['500', '502', '503'], slackCalls)) },
  { what: 'edits a reply', figure: perReply('chat.update') },
  { what: 'reactions a reply', figure: perReply('reactions.add', 'reactions.remove') },
  {
    what: 'questions asked: left alone, sent again',
    figure: `${answers.questions}: ${answers.leave}, ${answers.again}`,
  },
  none('lost', verdict.lost),
  none('sent twice', verdict.twice),
  none('out of order', verdict.outOfOrder),
  none('sent, but not wanted', verdict.unwanted),
  none('replies without a visible outcome', verdict.withoutOutcome),
  none('messages posted twice', verdict.postedTwice),
  none('questions left open', verdict.openQuestions),
  { what: 'told as not sent (0)', figure: String(answers.failed), held: answers.failed === 0 },
  { what: 'nothing under way in the end', figure: outcome.idle ? 'yes' : 'no', held: outcome.idle },
  none(
    'errors in the log',
    errors.map(([words]) => words),
  ),
  { what: 'longest pause of the stand-ins themselves', figure: seconds(pauses.max / 1e6) },
  { what: 'from the first reply to the end', figure: seconds(outcome.seconds * 1000) },
]);
for (const [kind, found] of Object.entries(verdict))
  for (const one of found.slice(0, 5)) console.log(`${kind}: ${one}`);
for (const [words, count] of errors.slice(0, 10)) console.log(`${count} × ${words}`);
await chaos.world.close();
// Left to itself, Node 26 was seen to wait without end for connections that had been cut.
process.exit();
