import { setTimeout as pause } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { createStandInPlatform } from '../demo/docs-platform/platform.ts';
import { createStandInSlack } from '../demo/slack/slack.ts';
import { addChannels, channelOf } from './parts/channels.ts';
import { exportTimesOf } from './parts/export-times.ts';
import { longestPauseMs, median, peak, quantile } from './parts/figures.ts';
import { printTable, seconds } from './parts/table.ts';
import { startWorld } from './parts/world.ts';

/** The longest from the completion of an export to the post of its ending. */
const ENDING_WITHIN_MS = 5000;
/** `limits.exportStatusPerSecond` as it is by default; two may come at once, and one may have travelled slowly. */
const POLLS_PER_SECOND = 5;
const POLLS_BUNCHED = 3;
/** Slack's tier 3, as strict as Slack may be. */
const EDITS_PER_MINUTE = 50;

const CHANNELS = 6;
const ASK_EVERY_MS = 750;
const SHORTEST_MS = 120_000;
/** Between two completions. A channel takes one post a second: those of one instant could not all be posted in 5 s. */
const COMPLETE_EVERY_MS = 4000;
/** Prime to the number of exports and of channels: neighbours in completing were not neighbours in asking. */
const STRIDE = 13;
/** How long the last messages may take. */
const GRACE_MS = 120_000;

const { values } = parseArgs({ options: { exports: { type: 'string', default: '60' } } });
const count = Number(values.exports);

/** When and where each export is requested, and how long the platform works on it. */
const exports = Array.from({ length: count }, (_, place) => {
  const index = (place * STRIDE) % count;
  const askAtMs = index * ASK_EVERY_MS;
  const completeAtMs = count * ASK_EVERY_MS + SHORTEST_MS + place * COMPLETE_EVERY_MS;
  return {
    domain: `site-${String(index + 1).padStart(2, '0')}.acme.com`,
    channel: channelOf(index, CHANNELS),
    askAtMs,
    durationMs: completeAtMs - askAtMs,
  };
}).sort((a, b) => a.askAtMs - b.askAtMs);

const slack = createStandInSlack({ transport: 'http' });
addChannels(slack, CHANNELS);
const platform = createStandInPlatform({ domains: exports.map(({ domain }) => domain) });
for (const { domain, durationMs } of exports) platform.plan({ domain, durationMs, pages: 200 });

const { url, close: closePlatform } = await platform.listen();
const { apiKey, projectId } = platform;
const world = await startWorld(
  slack,
  { url, apiKey, projectId },
  `limits: { exportsPerPerson: ${count}, exportsPerChannel: ${count} }\n`,
);
const { bot } = world;

const lengths = exports.map(({ durationMs }) => durationMs);
console.log(
  `${count} exports of ${seconds(Math.min(...lengths))} to ${seconds(Math.max(...lengths))} in ${CHANNELS} channels, asked for within ${seconds(count * ASK_EVERY_MS)}.
By design of the workload one completes every ${seconds(COMPLETE_EVERY_MS)}: a channel takes one post a second, so many endings
of one instant could not all be posted in 5 s. Three edits of each export are changes of state and go before progress: the card twice, its progress at the end.
`,
);
const beganAtMs = Date.now();
for (const [index, { domain, channel, askAtMs }] of exports.entries()) {
  await pause(Math.max(0, beganAtMs + askAtMs - Date.now()));
  const person = slack.person(index % 2 === 0 ? 'ana' : 'ben');
  const { ok, ephemeral } = await person.types(channel, `/docs-export ${domain}`);
  if (!ok || ephemeral) console.log(`${domain} was not accepted: ${ephemeral?.text}`);
}
const untilMs = beganAtMs + Math.max(...exports.map((one) => one.askAtMs + one.durationMs)) + GRACE_MS;
const allDone = () => exports.every(({ domain }) => exportTimesOf(slack, domain).cardDoneAtMs !== undefined);
while (Date.now() < untilMs && !allDone()) await pause(1000);
await bot.stop();

const measured = exports.map(({ domain, durationMs }) => {
  const startedAtMs = platform.starts.find((start) => start.domain === domain)?.atMs ?? Number.NaN;
  const completedAtMs = startedAtMs + durationMs;
  const {
    progressAtMs,
    editsAtMs,
    endingAtMs = Number.NaN,
    cardDoneAtMs = Number.NaN,
  } = exportTimesOf(slack, domain);
  const whileRunning = progressAtMs.filter((atMs) => atMs < completedAtMs);
  const edits = Math.max(0, whileRunning.length - 1);
  return {
    endingLagMs: endingAtMs - completedAtMs,
    cardLagMs: cardDoneAtMs - completedAtMs,
    edits,
    finalEdits: editsAtMs.filter((atMs) => atMs >= completedAtMs).length,
    editsPerMinute: (edits / durationMs) * 60_000,
    staleMs: longestPauseMs([startedAtMs, ...whileRunning, completedAtMs]),
  };
});
const of = (field: keyof (typeof measured)[number]) => measured.map((one) => one[field]);
const spread = (numbers: number[], spell: (number: number) => string) =>
  [Math.min(...numbers), median(numbers), Math.max(...numbers)].map(spell).join(' / ');

const calls = (name: string) => slack.wire.calls.filter((call) => call.name === name).map(({ atMs }) => atMs);
const [posts, edits] = [calls('chat.postMessage'), calls('chat.update')];
const polls = platform.wire.calls
  .filter(({ name }) => name === 'GET /v1/static-export/jobs/{jobId}')
  .map(({ atMs }) => atMs);
const refused = slack.wire.calls.filter(({ outcome }) => outcome === '429').length;
const ended = measured.filter(({ endingLagMs }) => endingLagMs >= 0).length;
const moved = of('edits').filter((number) => number > 0).length;
const done = measured.filter(({ cardLagMs }) => cardLagMs >= 0).length;
const lags = of('endingLagMs');
const pollsPerSecond = (polls.length * 1000) / (Math.max(...polls) - Math.min(...polls));
const [mostPolls, mostEdits] = [peak(polls, 1000), peak(edits, 60_000)];
const besides = slack.wire.calls.length - of('edits').reduce((sum, one) => sum + one, 0);
const progressEdits = of('edits').reduce((sum, one) => sum + one, 0);

printTable([
  { what: 'exports with an ending', figure: `${ended} of ${count}`, held: ended === count },
  { what: 'completed → ending posted: median', figure: seconds(median(lags)) },
  { what: 'completed → ending posted: 95 %', figure: seconds(quantile(lags, 0.95)) },
  {
    what: 'completed → ending posted: max (≤ 5 s)',
    figure: seconds(Math.max(...lags)),
    held: Math.max(...lags) <= ENDING_WITHIN_MS,
  },
  { what: 'cards that say so in the end', figure: `${done} of ${count}`, held: done === count },
  { what: 'completed → card says so: min / median / max', figure: spread(of('cardLagMs'), seconds) },
  { what: 'HTTP 429 from Slack (0)', figure: String(refused), held: refused === 0 },
  { what: 'posts', figure: String(posts.length) },
  { what: 'edits, of them progress', figure: `${edits.length}, ${progressEdits}` },
  {
    what: 'edits of an export at its end: min / median / max',
    figure: spread(of('finalEdits'), String),
  },
  { what: 'calls to Slack for an export, beside progress', figure: (besides / count).toFixed(2) },
  { what: 'edits in any 60 s (≤ 50)', figure: String(mostEdits), held: mostEdits <= EDITS_PER_MINUTE },
  { what: 'polls of the platform', figure: `${polls.length}, ${pollsPerSecond.toFixed(1)} a second` },
  {
    what: `polls in any 1 s (≤ ${POLLS_PER_SECOND} + ${POLLS_BUNCHED})`,
    figure: String(mostPolls),
    held: mostPolls <= POLLS_PER_SECOND + POLLS_BUNCHED,
  },
  { what: 'exports with a progress edit', figure: `${moved} of ${count}`, held: moved === count },
  {
    what: 'progress edits per running minute: min / median / max',
    figure: spread(of('editsPerMinute'), (number) => number.toFixed(2)),
  },
  {
    what: 'longest time without one while it moved: min / median / max',
    figure: spread(of('staleMs'), seconds),
  },
  { what: 'warnings in the log', figure: String(bot.complaints().length) },
]);
for (const line of bot.complaints().slice(0, 3)) console.log(line);

await Promise.all([world.stop(), closePlatform()]);
