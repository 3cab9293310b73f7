import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { progressMessage } from '../../../src/jobs/export/progress-view.ts';
import type { ExportRun } from '../../../src/jobs/export/record.ts';
import { aRun } from '../../support/jobs/export/builders.ts';
import { reads } from '../../support/slack/rendering.ts';

describe('the progress', () => {
  const BUTTONS = '\n[Check now] [⋯ Notify me too]';
  const whole = (changes: Partial<ExportRun>) => reads(progressMessage(aRun(changes)));
  const shown = (changes: Partial<ExportRun>) => whole(changes).replace(BUTTONS, '');

  test('a percentage of the platform is shown as the platform gave it', () => {
    const wrong = Array.from({ length: 101 }, (_, percent) => percent).filter(
      (percent) => percent !== 1 && !shown({ fraction: percent / 100 }).includes(` ${percent}% `),
    );
    expect(wrong).toEqual([]);
  });

  test('never rounds up', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 1, noNaN: true }), (fraction) => {
        const percent = Number(/(\d+)%/.exec(shown({ fraction }))?.[1]);
        expect(percent).toBeLessThanOrEqual(fraction * 100 + 1e-6);
        expect(percent).toBeGreaterThan(fraction * 100 - 1);
        if (fraction < 0.9999) expect(percent).toBeLessThan(100);
      }),
    );
  });
});
