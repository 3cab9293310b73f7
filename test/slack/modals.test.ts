import { describe, expect, test } from 'vitest';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { checkboxField, choiceField, formView, groupedChoiceField } from '../../src/slack/modals.ts';

const isTaken = (view: unknown) => {
  expect(() => checkView(view, 'modal', (prefix) => prefix)).not.toThrow();
};

describe('a form', () => {
  const form = (fields: Parameters<typeof formView>[0]['fields']) =>
    formView({ title: 'Export', submit: 'Go', callback: 'test.dialog', fields });
  const choices = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ label: `Choice ${index}`, value: `c${index}` }));

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
  });
});
