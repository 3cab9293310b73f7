import { describe, expect, test } from 'vitest';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { message } from '../../src/slack/blocks.ts';
import {
  channelField,
  checkboxField,
  choiceField,
  formView,
  groupedChoiceField,
  noticeView,
  preformatted,
  reportView,
  textField,
  timeField,
} from '../../src/slack/modals.ts';

const isTaken = (view: unknown) => {
  expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
};

describe('a form', () => {
  const form = (fields: Parameters<typeof formView>[0]['fields'], title = 'Export') =>
    formView({ title, submit: 'Go', callback: 'test.dialog', fields });
  const choices = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ label: `Choice ${index}`, value: `c${index}` }));

  test('names its listener, and carries what comes back with it', () => {
    const view = form([textField({ block: 'domain', label: 'Domain' })]);
    expect(view).toMatchObject({ callback_id: 'test.dialog' });
    isTaken(view);
  });

  test('has a hint under a field where one is wanted', () => {
    const hint = 'Where two projects have it.';
    const view = form([
      choiceField({ block: 'a', label: 'A', hint, choices: choices(2) }),
      choiceField({ block: 'b', label: 'B', hint, choices: choices(5) }),
      textField({ block: 'c', label: 'C', hint }),
      choiceField({ block: 'd', label: 'D', choices: choices(2) }),
      textField({ block: 'e', label: 'E' }),
    ]);
    isTaken(view);
    const under = view.blocks.map((block) => ('hint' in block ? block.hint?.text : undefined));
    expect(under).toEqual([hint, hint, hint, undefined, undefined]);
  });

  test('has text fields that are empty, filled, of one line or of many', () => {
    const view = form([
      textField({ block: 'a', label: 'A' }),
      textField({ block: 'b', label: 'B', hint: 'Hint', placeholder: 'x', initial: 'y', optional: true }),
      textField({ block: 'c', label: 'C', multiline: true }),
    ]);
    isTaken(view);
    expect(view.blocks).toMatchObject([
      { block_id: 'a', optional: false, element: { multiline: false } },
      { block_id: 'b', optional: true, element: { initial_value: 'y' } },
      { block_id: 'c', element: { multiline: true } },
    ]);
    expect(view.blocks[0]).not.toHaveProperty('element.initial_value');
  });

  test.each([
    [1, 'radio_buttons'],
    [4, 'radio_buttons'],
    [5, 'static_select'],
    [100, 'static_select'],
  ])('with %i choices has %s', (count, type) => {
    const view = form([choiceField({ block: 'a', label: 'A', choices: choices(count), initial: 'c0' })]);
    isTaken(view);
    expect(view.blocks).toMatchObject([
      { element: { type, initial_option: { value: 'c0', text: { text: 'Choice 0' } } } },
    ]);
  });

  test('chooses nothing beforehand that is not among the choices', () => {
    const field = choiceField({
      block: 'a',
      label: 'A',
      choices: choices(3),
      initial: 'gone',
      optional: true,
    });
    expect(field).not.toHaveProperty('element.initial_option');
    expect(field.optional).toBe(true);
    isTaken(form([field]));
  });

  test('has a choice in groups', () => {
    const groups = [
      { label: 'UTC', choices: [{ label: 'UTC', value: 'UTC' }] },
      { label: 'Europe', choices: [{ label: 'Europe/Berlin', value: 'Europe/Berlin' }] },
    ];
    const view = form([
      groupedChoiceField({ block: 'a', label: 'A', groups, initial: 'Europe/Berlin' }),
      groupedChoiceField({ block: 'b', label: 'B', groups, initial: 'gone' }),
    ]);
    isTaken(view);
    expect(view.blocks).toMatchObject([
      {
        element: {
          type: 'static_select',
          option_groups: [{ label: { text: 'UTC' } }, { label: { text: 'Europe' } }],
          initial_option: { value: 'Europe/Berlin' },
        },
      },
      {},
    ]);
    expect(view.blocks[1]).not.toHaveProperty('element.initial_option');
    const many = Array.from({ length: 101 }, () => groups[0] ?? { label: '', choices: [] });
    expect(() => groupedChoiceField({ block: 'a', label: 'A', groups: many })).toThrow(RangeError);
  });

  test('has checkboxes, of which any number is ticked', () => {
    const field = (initial: string[], count = 3) =>
      checkboxField({ block: 'a', label: 'A', choices: choices(count), initial });
    isTaken(form([field(['c0', 'c2'])]));
    isTaken(form([field([])]));
    expect(field(['c2', 'gone', 'c0'])).toMatchObject({
      optional: true,
      element: { type: 'checkboxes', initial_options: [{ value: 'c0' }, { value: 'c2' }] },
    });
    expect(field([])).not.toHaveProperty('element.initial_options');
    expect(() => field([], 11)).toThrow(RangeError);
  });

  test('has a time of day, and a channel of those that people can join', () => {
    const view = form([
      timeField({ block: 'a', label: 'A', initial: '09:00' }),
      channelField({ block: 'b', label: 'B', initial: 'C0DOCS' }),
      channelField({ block: 'c', label: 'C' }),
    ]);
    isTaken(view);
    expect(view.blocks).toMatchObject([
      { element: { type: 'timepicker', initial_time: '09:00' } },
      { element: { initial_conversation: 'C0DOCS', filter: { include: ['public', 'private'] } } },
      {},
    ]);
    expect(view.blocks[2]).not.toHaveProperty('element.initial_conversation');
  });

  test('with a title that Slack would refuse is a defect of ours', () => {
    expect(form([], 'x'.repeat(24)).title.text).toHaveLength(24);
    expect(() => form([], 'x'.repeat(25))).toThrow(RangeError);
  });
});

test('a modal that only says something is one that Slack takes, and cannot be submitted', () => {
  const view = noticeView('Export', message([['Done']], [{ label: 'Go', action: 'test.go', value: '1' }]));
  isTaken(view);
  expect(view.submit).toBeUndefined();
});

test('text to be copied stays as it is', () => {
  const text = 'staticExport:\n  bundleUrl: "https://x.example/?a=1&b=<2>"';
  const view = reportView('Settings', [preformatted(text)]);
  isTaken(view);
  expect(JSON.stringify(view)).toContain(JSON.stringify(text));
});
