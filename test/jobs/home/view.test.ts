import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { notifiedBy } from '../../../demo/slack/notifies.ts';
import type { Block } from '../../../demo/slack/workspace.ts';
import { exportLine } from '../../../src/jobs/export/progress-view.ts';
import { answerButtonOf, homeView, refusalText } from '../../../src/jobs/home/view.ts';
import { aHome } from '../../gallery/states/workspace.ts';
import { hostileText } from '../../support/arbitraries.ts';
import { anyRun } from '../../support/jobs/export/arbitraries.ts';

test('whatever runs are called, Slack takes the view and nobody is notified', () => {
  fc.assert(
    fc.property(
      fc.array(anyRun, { maxLength: 25 }),
      fc.array(hostileText, { maxLength: 3 }),
      (runs, names) => {
        const lines = runs.map((run) => exportLine(run, 'https://acme.example/archives/C0DOCS/p1'));
        const view = homeView(
          aHome({
            needs: lines.slice(0, 20).map((line, index) => ({
              line,
              button: answerButtonOf({ id: 'r1' }, { user: 'U0ANA', id: `${index}` }),
            })),
            moreNeeds: 2000,
            running: ['a', 'b', 'c'].map((title) => ({ title, lines: lines.slice(0, 15), more: 9 })),
            ended: lines.slice(15),
            refusal: refusalText(['start exports'], { contacts: names.join(' or ') }),
          }),
        );
        // Throws for a mistake in a block and for a view that is too large.
        expect(checkView(view, 'home', (prefix) => prefix).blocks.length).toBeLessThan(100);
        expect(notifiedBy('', view.blocks as unknown as Block[])).toEqual([]);
      },
    ),
  );
});
