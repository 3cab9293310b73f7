import { setTimeout as pause } from 'node:timers/promises';
import { createStandInPlatform } from '../../demo/docs-platform/platform.ts';

/** The platform in a process of its own, see `platform.ts`. */
const [pages, delayMs] = process.argv.slice(2).map(Number);
const platform = createStandInPlatform({ analyticsPerHour: Infinity, ...(pages && { pages }) });

/** When each call came, and when its answer was ready, by number. */
const began = new Map<number, number>();
const served: { name: string; beganAtMs: number; endedAtMs: number }[] = [];
const nowMs = () => performance.timeOrigin + performance.now();

platform.wire.onCall(async ({ n, name }, phase) => {
  if (phase === 'after') {
    served.push({ name, beganAtMs: began.get(n) ?? Number.NaN, endedAtMs: nowMs() });
    began.delete(n);
    return;
  }
  began.set(n, nowMs());
  await pause(delayMs);
});
process.on('message', () => process.send?.(served.splice(0)));
const { url } = await platform.listen();
const { apiKey, projectId } = platform;
process.send?.({ url, apiKey, projectId });
