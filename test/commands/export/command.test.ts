import { describe, expect, test } from 'vitest';
import { mistakesIn } from '../../../demo/slack/block-kit/check.ts';
import { domainButtons, exportCommand, exportSiteButton } from '../../../src/commands/export/command.ts';
import { exportOffer } from '../../../src/jobs/export/ask-view.ts';
import type { Message } from '../../../src/slack/blocks.ts';
import { aCaller, aProject } from '../../support/commands/builders.ts';
import { type CommandWorld, onFreshWorlds } from '../../support/commands/world.ts';

let world: CommandWorld;
onFreshWorlds(
  (fresh) => {
    world = fresh;
  },
  { projects: [aProject({ name: 'acme' })] },
);

/** What somebody is told who typed this, and the value of [Use it] in it. */
async function typed(text: string): Promise<{ told: Message; value: string | undefined }> {
  const told = await exportCommand.run(text, aCaller(), world.tools);
  if (told === undefined) throw new Error(`was not answered: ${text}`);
  expect(mistakesIn(told.blocks, 'message')).toEqual([]);
  const values = told.blocks.flatMap((block) =>
    block.type === 'actions'
      ? block.elements.map((element) => ('value' in element ? element.value : undefined))
      : [],
  );
  return { told, value: values[0] };
}
const [useDomainButton] = domainButtons as [(typeof domainButtons)[number]];
const use = (value: string | undefined, caller = aCaller({ requestId: '1.3.c' })) =>
  useDomainButton.run(useDomainButton.value.parse(JSON.parse(value ?? '')), caller, world.tools);

describe('[Use it]', () => {
  test.each<[string, string, object]>([
    [
      'a label full of quotes',
      `--version '"spring" "release" says "1.2"'`,
      { version: '"spring" "release" says "1.2"' },
    ],
    ['one that looks like an option', '--version="--private"', { version: '--private', privately: false }],
    ['pages', '--paths "/guides, /api"', { paths: ['/guides', '/api'] }],
    ['a project, and that it is private', '--project ACME --private', { project: 'acme', privately: true }],
  ])('starts what was meant, with %s as typed', async (_, options, expected) => {
    const { told, value } = await typed(`https://docs.acme.com/v2 ${options}`);
    expect(told.text).toBe("https://docs.acme.com/v2 isn't a host name. Did you mean docs.acme.com?");
    expect(await use(value)).toBeUndefined();
    expect(await world.exports()).toMatchObject([{ domain: 'docs.acme.com', ...expected }]);
  });

  test('clicked twice starts one, and nobody is notified of themselves', async () => {
    const { value } = await typed('https://docs.acme.com/v2');
    expect(await use(value)).toBeUndefined();
    expect(await use(value, aCaller({ requestId: '1.4.d' }))).toBeUndefined();
    expect(await world.exports()).toHaveLength(1);
  });

  test('is not there where its value is longer than Slack takes; the domain is shown all the same', async () => {
    const paths = Array.from({ length: 60 }, (_, index) => `/${'x'.repeat(40)}${index}`).join(',');
    const { told, value } = await typed(`https://docs.acme.com/v2 --paths ${paths}`);
    expect(value).toBeUndefined();
    expect(told.text).toMatch(/Did you mean docs\.acme\.com\?$/);
  });
});

test('[Export a site] asks in a modal what to export, with nothing started', async () => {
  expect(await exportSiteButton.run({ v: 1 }, aCaller(), world.tools)).toBeUndefined();
  expect(world.opened.map(({ callback_id: callback }) => callback)).toEqual(['export.start']);
  expect(await world.exports()).toEqual([]);
});

test('[Export docs.acme.com] under a mention starts it once, however often it is clicked', async () => {
  const { blocks } = exportOffer('5e5e1c2b', { site: 'docs.acme.com' });
  const [button] = blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []));
  const value = button !== undefined && 'value' in button ? button.value : undefined;
  expect(await use(value)).toBeUndefined();
  expect(await use(value, aCaller({ requestId: '1.4.d' }))).toBeUndefined();
  expect(await world.exports()).toMatchObject([{ domain: 'docs.acme.com', privately: false }]);
});
