import type { KnownBlock, ModalView } from '@slack/types';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkView } from '../../../demo/slack/block-kit/view.ts';
import { settingsButton, settingsView } from '../../../src/commands/export/modal.ts';
import { runButtonOf } from '../../../src/jobs/export/progress-view.ts';
import type { Ending, ExportRun } from '../../../src/jobs/export/record.ts';
import { transitions } from '../../../src/jobs/export/transitions.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aCaller, ben } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';
import { anEnding, ended } from '../../support/jobs/export/builders.ts';

const ADDRESS = 'https://bundles.example/b?X-Signature=s3cret&x=<1>';

let world: CommandWorld;
onFreshWorlds((fresh) => {
  world = fresh;
});

/** What the modal has to be copied. */
function copied(view: ModalView): string[] {
  return (view.blocks as KnownBlock[]).flatMap((block) => {
    if (block.type !== 'rich_text') return [];
    return block.elements.flatMap((element) =>
      element.type === 'rich_text_preformatted'
        ? element.elements.map((part) => ('text' in part ? (part.text ?? '') : ''))
        : [],
    );
  });
}

describe('the modal with the settings', () => {
  const labels = [
    ...[undefined, 'spring release: "1.2" #3', 'true', '1.10', '2026-09-01', 'yes', 'off', '1_000', '0x1f'],
    ...['12:30:45', '~', 'null', '.inf', '1e3', '010', '=', '<<', "it's", 'back\\slash', '📦', '- x', '# y'],
  ];
  test.each(labels)(
    'has them as YAML that every reader takes as it was meant, with the label %j',
    (version) => {
      const view = settingsView(ended(anEnding.done, { version }), ADDRESS, NOW_MS);
      expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
      const meant = { enabled: true, bundleUrl: ADDRESS, ...(version !== undefined && { version }) };
      for (const reader of ['1.2', '1.1'] as const)
        expect(parse(copied(view)[0] ?? '', { version: reader })).toEqual({ staticExport: meant });
    },
  );

  test('keeps a very long address on one line', () => {
    const long = `${ADDRESS}${'x'.repeat(2500)}`;
    const view = settingsView(ended(anEnding.done), long, NOW_MS);
    expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
    expect(copied(view)[0]).toContain(`bundleUrl: "${long}"`);
  });
});

describe('[Deployment settings]', () => {
  const click = (run: ExportRun, caller = aCaller(), tools = world.tools) =>
    settingsButton.run(JSON.parse(runButtonOf(run, '', '').value ?? ''), caller, tools);
  const given = async (ending: Partial<Ending> = {}, changes: Partial<ExportRun> = {}) => {
    const run = await world.given({
      ...ended({ ...anEnding.done, ...ending } as Ending),
      rev: 1,
      ...changes,
    });
    await world.links.put('run.1.0.0', ADDRESS, Date.now() + 60_000);
    return run;
  };

  test('is noted in the audit log, without the link', async () => {
    const run = await given();
    await click(run);
    expect(world.audited).toEqual([{ subject: 'docs.acme.com', job: run.jobId, result: 'shown' }]);
  });

  describe('while a further link is made', () => {
    const relinked = async (before: Partial<Ending> = {}, changes: Partial<ExportRun> = {}) => {
      const run = transitions.newLink(ended({ ...anEnding.done, ...before } as Ending), ben, NOW_MS);
      return given({}, { ...run, ending: undefined, ...changes });
    };

    test('opens one for one person to nobody else', async () => {
      const run = await relinked({ privately: true } as Partial<Ending>);
      await click(run, aCaller({ user: ben }));
      expect(world.opened).toEqual([]);
      await click(run);
      expect(world.opened).toHaveLength(1);
    });
  });
});
