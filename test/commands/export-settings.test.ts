import type { KnownBlock, ModalView } from '@slack/types';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { settingsButton, settingsView } from '../../src/commands/export-settings.ts';
import { runButtonOf } from '../../src/jobs/export/phrases.ts';
import type { Ending, ExportRun } from '../../src/jobs/export/run.ts';
import { startTestRedis, type TestRedis } from '../flows/redis.ts';
import { anEnding } from '../jobs/export/any-run.ts';
import { ended } from '../jobs/export/reading.ts';
import { aCaller, ben, createCommandWorld } from './command-world.ts';

const ADDRESS = 'https://bundles.example/b?X-Signature=s3cret&x=<1>';

let redis: TestRedis;
let world: ReturnType<typeof createCommandWorld>;
beforeAll(async () => {
  redis = await startTestRedis();
});
beforeEach(async () => {
  await redis.client.flushall();
  world = createCommandWorld(redis);
});
afterAll(() => redis.close());

/** What the dialog has to be copied, first the settings, then the table. */
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

describe('the dialog with the settings', () => {
  test.each([undefined, 'spring release: "1.2" #3', 'true', '1.10'])(
    'has them as YAML that reads back as it was meant, with the label %j',
    (version) => {
      const view = settingsView(ended(anEnding.done, { version }), ADDRESS);
      expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
      expect(parse(copied(view)[0] ?? '')).toEqual({
        staticExport: { enabled: true, bundleUrl: ADDRESS, ...(version !== undefined && { version }) },
      });
    },
  );

  test('keeps a very long address on one line', () => {
    const long = `${ADDRESS}${'x'.repeat(2500)}`;
    const view = settingsView(ended(anEnding.done), long);
    expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
    expect(copied(view)[0]).toContain(`bundleUrl: ${long}`);
  });

  test('says how long the link works, and what works where', () => {
    const view = settingsView(ended(anEnding.done), ADDRESS);
    expect(JSON.stringify(view)).toContain('the link works until');
    expect(copied(view)[1]).toContain('AI assistant          yes    configurable   no\n');
    const endless = settingsView(ended({ kind: 'done', link: 'x' }), ADDRESS);
    expect(JSON.stringify(endless)).not.toContain('the link works until');
  });

  test('cannot be submitted', () => {
    expect(settingsView(ended(anEnding.done), ADDRESS).submit).toBeUndefined();
  });
});

describe('[Deployment settings]', () => {
  const click = (run: ExportRun, caller = aCaller()) =>
    settingsButton.run(JSON.parse(runButtonOf(run, '', '').value ?? ''), caller, world.tools);
  const given = async (changes: Partial<Ending> = {}) => {
    const run = await world.given({ ...ended({ ...anEnding.done, ...changes } as Ending), rev: 1 });
    await world.links.put('run.1.0.0', ADDRESS, Date.now() + 60_000);
    return run;
  };

  test('opens it for anybody who can see the link', async () => {
    const run = await given();
    expect(await click(run, aCaller({ user: ben }))).toBeUndefined();
    expect(JSON.stringify(world.opened)).toContain('s3cret');
  });

  test('of a link for one person opens it for that person alone', async () => {
    const run = await given({ privately: true } as Partial<Ending>);
    const told = await click(run, aCaller({ user: ben }));
    expect(told?.text).toBe('This link went to somebody else. Click [Get my own link] in the thread.');
    expect(world.opened).toEqual([]);
    await click(run);
    expect(world.opened).toHaveLength(1);
  });

  test('says so when the link has ended, or the export is forgotten', async () => {
    const run = await given();
    await redis.client.flushall();
    expect((await click(run))?.text).toMatch(/^The link has ended/);
    await world.given({ ...run });
    expect((await click(run))?.text).toMatch(/^The link has ended/);
    expect(world.opened).toEqual([]);
  });
});
