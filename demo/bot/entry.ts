// The bot of the demo: Docket as it is, with a clock that the demo moves. A process of its own, forked by the demo.
import { main } from '../../src/app.ts';
import type { FromBot, ToBot } from './messages.ts';

let aheadMs = Number(process.argv[2] ?? 0);

const tell = (message: FromBot) => process.send?.(message);

process.on('message', (message: ToBot) => {
  aheadMs = message.aheadMs;
  tell({ is: 'moved', aheadMs });
});
// Whoever started it is gone, however that was.
process.on('disconnect', () => process.kill(process.pid, 'SIGTERM'));

// A visitor waits for what the clock has woken, for the first retry after trouble, for what a killed Docket had begun, and
// to see an export go on.
const timing = {
  ...{ sweepMs: 1000, retryMaxMs: 5000, pollMaxMs: 2000, lockMs: 8000, stalledMs: 2000 },
  // The panel moves the clock by five minutes, however old a pull request is.
  pullRequestsHourlyMs: 270_000,
};
await main(process.env, { now: () => Date.now() + aheadMs, timing });
tell({ is: 'up' });
