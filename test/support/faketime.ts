import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { findFaketime } from '../../scripts/faketime.mjs';

/** A clock of the test's own: started with `env`, a process sees the machine's time moved by an offset. */
export interface MovedClock {
  env: Record<string, string>;
  /** The same for Redis: its allocator asks for the time before libfaketime can answer, so it takes the system's. */
  redisEnv: Record<string, string>;
  /** Milliseconds ahead of the machine's clock, or behind it. Processes see it within a second. */
  move(offsetMs: number): void;
}

const library = await findFaketime(join(import.meta.dirname, '..'));
if (library === undefined)
  console.warn('Tests of clocks that differ are left out: libfaketime is not here and cannot be fetched.');

/** Whether processes can be shown another time here; tests of them are skipped where not. */
export const canMoveClocks = library !== undefined;

/**
 * Makes a clock that goes with the test. Timers and time limits in a process do not notice: only the time of day is
 * moved. Where a process starts others, those see it too. A concurrent test passes its own `onFinished`.
 */
export function movedClock(
  offsetMs: number,
  onFinished: (close: () => void) => void = onTestFinished,
): MovedClock {
  const folder = mkdtempSync(join(tmpdir(), 'docket-clock-'));
  onFinished(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'offset');
  const move = (ms: number) => writeFileSync(file, `${ms < 0 ? '-' : '+'}${Math.abs(ms) / 1000}`);
  move(offsetMs);
  const env = {
    LD_PRELOAD: library ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
  };
  return { move, env, redisEnv: { ...env, LD_PRELOAD: `${env.LD_PRELOAD}:libc.so.6` } };
}
