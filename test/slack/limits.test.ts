import type { InputBlock, KnownBlock } from '@slack/types';
import { expect, test } from 'vitest';
import { checkMessageBlocks } from '../../demo/slack/block-kit/check.ts';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import type { ButtonParts, ChartParts } from '../../src/slack/blocks.ts';
import { checkLimit, SLACK_LIMITS } from '../../src/slack/limits.ts';
import { choiceField, textField } from '../../src/slack/modals.ts';
import type { ChartBlock } from '../../src/store/messages.ts';

type Check = (length: number) => void;

const plain = (text: string) => ({ type: 'plain_text', text });
const posted = (block: object): void => void checkMessageBlocks([block], (prefix) => prefix);
const button = (fields: object) =>
  posted({
    type: 'actions',
    elements: [{ type: 'button', action_id: 'a', text: { type: 'plain_text', text: 'Go' }, ...fields }],
  });
const view = (fields: object, blocks: KnownBlock[] | InputBlock[] = []) => {
  const title = { type: 'plain_text', text: 'Form' };
  checkView({ type: 'modal', title, submit: title, blocks, ...fields }, 'modal', (prefix) => prefix);
};
const select = (count: number, text = 'Label') =>
  view({}, [
    choiceField({
      block: 'a',
      label: 'A',
      choices: Array.from({ length: count }, (_, index) => ({ label: text, value: String(index) })),
    }),
  ]);

const posts = (...blocks: object[]): void => void checkMessageBlocks(blocks, (prefix) => prefix);
const times = <T>(count: number, one: (index: number) => T) =>
  Array.from({ length: count }, (_, index) => one(index));
const chart = (changes: Partial<ChartParts> = {}): ChartBlock => ({
  type: 'data_visualization',
  title: changes.title ?? 'Views',
  chart: {
    type: 'bar',
    series: (changes.series ?? [{ name: 'People', values: [1] }]).map(({ name }) => ({
      name,
      data: (changes.labels ?? ['Mon']).map((label) => ({ label, value: 1 })),
    })),
    axis_config: { categories: changes.labels ?? ['Mon'], y_label: changes.yTitle ?? 'Views' },
  },
});
const rows = (count: number, columns: number, text = 'x') =>
  posted({ type: 'table', rows: times(count, () => times(columns, () => ({ type: 'raw_text', text }))) });
const small = (count: number, text = 'x') =>
  posted({ type: 'context', elements: times(count, () => ({ type: 'plain_text', text })) });

/** What the stand-in does with so much of each. It limits no error at a field; a long `text` it cuts or refuses when it is sent. */
const standIn: Record<
  Exclude<keyof typeof SLACK_LIMITS, 'messageText' | 'editedTextBytes' | 'modalFieldError'>,
  Check
> = {
  messageBlocksText: (length) => posted({ type: 'rich_text', elements: [section('x'.repeat(length))] }),
  messageBlocks: (length) => posts(...times(length, () => ({ type: 'divider' }))),
  tableRows: (length) => rows(length, 1),
  tableColumns: (length) => rows(1, length),
  tablesText: (length) => rows(1, 1, 'x'.repeat(length)),
  charts: (length) => posts(...times(length, () => chart())),
  chartTitle: (length) => posts(chart({ title: 'x'.repeat(length) })),
  chartSeries: (length) =>
    posts(chart({ series: times(length, (index) => ({ name: `${index}`, values: [] })) })),
  chartPoints: (length) => posts(chart({ labels: times(length, String) })),
  chartLabel: (length) => posts(chart({ labels: ['x'.repeat(length)] })),
  chartAxisTitle: (length) => posts(chart({ yTitle: 'x'.repeat(length) })),
  contextElements: (length) => small(length),
  textObject: (length) => small(1, 'x'.repeat(length)),
  buttonText: (length) => button({ text: { type: 'plain_text', text: 'x'.repeat(length) } }),
  buttonValue: (length) => button({ value: 'x'.repeat(length) }),
  buttonUrl: (length) => button({ url: 'https://a.example/'.padEnd(length, 'x') }),
  optionText: (length) => select(5, 'x'.repeat(length)),
  menuEntries: (length) => menu({ options: times(length, (index) => option(String(index))) }),
  menuValue: (length) => menu({ options: [option('x'.repeat(length))] }),
  blockId: (length) => posted({ type: 'divider', block_id: 'x'.repeat(length) }),
  selectOptions: (length) => select(length),
  selectGroups: (length) => {
    const groups = times(length, (index) => ({ label: plain('x'), options: [option(String(index))] }));
    asked({ type: 'static_select', option_groups: groups });
  },
  checkboxes: (length) =>
    asked({ type: 'checkboxes', options: times(length, (index) => option(String(index))) }),
  confirmTitle: (length) => posted(confirming({ title: 'x'.repeat(length) })),
  confirmText: (length) => posted(confirming({ text: 'x'.repeat(length) })),
  confirmButton: (length) => posted(confirming({ yes: 'x'.repeat(length) })),
  inputInitialValue: (length) =>
    view({}, [textField({ block: 'a', label: 'A', multiline: true, initial: 'x'.repeat(length) })]),
  modalTitle: (length) => view({ title: { type: 'plain_text', text: 'x'.repeat(length) } }),
  modalPrivateMetadata: (length) => view({ private_metadata: 'x'.repeat(length) }),
};

const option = (value: string) => ({ text: plain('x'), value });

const menu = (fields: object) =>
  posted({ type: 'actions', elements: [{ type: 'overflow', action_id: 'a', ...fields }] });

/** A field in a modal, as it is sent, so that no limit of ours stands before that of the stand-in. */
const asked = (element: object) =>
  view({}, [{ type: 'input', label: plain('A'), element: { action_id: 'a', ...element } } as InputBlock]);

function confirming(changes: Partial<NonNullable<ButtonParts['confirm']>>) {
  const { title, text, yes, no } = { title: 'Sure?', text: 'Now?', yes: 'Yes', no: 'No', ...changes };
  const confirm = { title: plain(title), text: plain(text), confirm: plain(yes), deny: plain(no) };
  return {
    type: 'actions',
    elements: [{ type: 'button', action_id: 'a', text: plain('Go'), confirm }],
  };
}

function section(text: string) {
  return { type: 'rich_text_section', elements: [{ type: 'text', text }] };
}

test.each(Object.entries(standIn))('%s is what the stand-in takes', (name, check) => {
  const limit = SLACK_LIMITS[name as keyof typeof standIn];
  expect(() => check(limit)).not.toThrow();
  // Slack names none for the length of all blocks: ours has some room.
  expect(() => check(name === 'messageBlocksText' ? 13_300 : limit + 1)).toThrow();
});

test('what is over a limit of Slack is our own mistake, and throws without its text', () => {
  expect(checkLimit('modalTitle', 'x'.repeat(24))).toHaveLength(24);
  expect(() => checkLimit('modalTitle', 'x'.repeat(25))).toThrow(
    new RangeError('modalTitle: 25 characters, and Slack takes 24'),
  );
  expect(() => checkLimit('charts', [1, 2, 3])).toThrow(
    new RangeError('charts: 3 entries, and Slack takes 2'),
  );
});
