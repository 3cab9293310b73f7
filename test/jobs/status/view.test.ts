import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkMessageBlocks } from '../../../demo/slack/block-kit/check.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { exportLine } from '../../../src/jobs/export/progress-view.ts';
import { statusMessage } from '../../../src/jobs/status/view.ts';
import { aState } from '../../gallery/states/workspace.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { anyRun } from '../../support/jobs/export/arbitraries.ts';

test('whatever the exports are called, Slack takes it and nobody is notified', () => {
  fc.assert(
    fc.property(fc.array(anyRun, { minLength: 1, maxLength: 5 }), hostileText, (runs, contact) => {
      const running = runs.map((run) => exportLine(run, 'https://acme.example/archives/C0DOCS/p1'));
      const state = aState({ running, contact, hasAdmins: false, docs: undefined });
      for (const { text, blocks } of [
        statusMessage(state, { isAdmin: false }),
        statusMessage(state, { isAdmin: true, details: true }),
      ]) {
        checkMessageBlocks(blocks, (prefix) => prefix);
        expect(notifiedBy(text, blocks as unknown as Block[])).toEqual([]);
        expect(Buffer.byteLength(text)).toBeLessThanOrEqual(3000);
      }
    }),
  );
});
