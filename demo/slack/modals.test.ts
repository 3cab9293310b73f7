import { expect, test } from 'vitest';
import { refusal } from '../test-support/bot.ts';
import { input, modal, option, plain, startViews } from '../test-support/views.ts';

test.each([
  [
    'errors for no input',
    { response_action: 'errors', errors: { nothing: 'x' } },
    'errors for no input: nothing',
  ],
  [
    'a broken view',
    { response_action: 'update', view: { type: 'modal' } },
    'answered with invalid_arguments',
  ],
  ['no action', { text: 'thanks' }, 'answered with invalid_json'],
  ['no errors', { response_action: 'errors' }, 'answered with errors that are none'],
  ['empty errors', { response_action: 'errors', errors: {} }, 'answered with errors that are none'],
  [
    'an empty error',
    { response_action: 'errors', errors: { name: '' } },
    'answered with errors that are none',
  ],
])('a submission answered with %s is a violation', async (_, body, why) => {
  const { slack, ana, opens } = await startViews(({ json }) =>
    json.type === 'view_submission' ? { body } : {},
  );
  await opens(modal());
  await ana.submits({ name: 'x' });
  expect(slack.violations).toEqual([`view_submission: ${why}`]);
});

const several = modal({
  blocks: [
    input('name', { type: 'plain_text_input', max_length: 5, min_length: 2 }, { hint: plain('As you like') }),
    input('note', { type: 'plain_text_input', multiline: true, initial_value: 'hi' }, { optional: true }),
    input('day', { type: 'static_select', options: [option('Mon'), option('Tue')] }),
    input('kind', {
      type: 'radio_buttons',
      options: [option('Fast'), option('Full')],
      initial_option: option('Fast'),
    }),
    input('parts', { type: 'checkboxes', options: [option('Api'), option('Guides')] }),
  ],
});

test('a modal takes what a real client would let a person enter, and nothing else', async () => {
  const { bot, ana, opens } = await startViews();
  await opens(several);
  const before = bot.received.length;
  expect(() => ana.fills({ name: 'x'.repeat(6) })).toThrow('The name takes at most 5 characters');
  expect(() => ana.fills({ name: 'x' })).toThrow('The name wants at least 2 characters');
  expect(() => ana.fills({ name: 'a\nb' })).toThrow('The name is one line');
  expect(() => ana.fills({ day: 'Wed' })).toThrow('it has Mon, Tue');
  expect(() => ana.fills({ name: 'ok', colour: 'red' })).toThrow('No input called colour');
  expect(ana.fields()[0]?.value).toBe('');
  ana.fills({ note: 'a\nb' });
  const view = ana.modal();
  if (!view) throw new Error('no modal');
  await expect(ana.chooses(view, 'The day', 'Mon')).rejects.toThrow('sends nothing by itself');
  expect(bot.received).toHaveLength(before);
  await ana.closes();
  expect(() => ana.fields()).toThrow('ana has no modal open');
  await opens(modal({ submit: undefined, blocks: [{ type: 'divider' }] }));
  await expect(ana.submits()).rejects.toThrow('nothing to submit');
});

const schedule = (channel: string) =>
  modal({
    blocks: [
      input('where', {
        type: 'conversations_select',
        filter: { include: ['public', 'private'], exclude_external_shared_channels: true },
        initial_conversation: channel,
      }),
      input('time', { type: 'timepicker', initial_time: '09:00' }),
      input('zone', {
        type: 'static_select',
        option_groups: [
          { label: plain('UTC'), options: [option('UTC')] },
          { label: plain('Europe'), options: [option('Berlin'), option('Paris')] },
        ],
        initial_option: option('Berlin'),
      }),
      input(
        'parts',
        { type: 'checkboxes', options: [option('Api'), option('Guides')], initial_options: [option('Api')] },
        { optional: true },
      ),
    ],
  });

test('a select of conversations shows what its filter lets through and the person can see', async () => {
  const { slack, opens } = await startViews();
  await opens(schedule(slack.channel('#docs').id));
  const ana = slack.person('ana');
  for (const where of ['#shared', '#archive', '@ana', 'ana+ben+docket'])
    expect(() => ana.fills({ where })).toThrow(/^The where does not show .* to ana$/);
  for (const where of ['#docs', '#elsewhere', '#secret']) expect(() => ana.fills({ where })).not.toThrow();
  expect(() => ana.fills({ time: '9:30' })).toThrow('The time takes a time like 09:30, not 9:30');
  expect(() => ana.fills({ time: '24:00' })).toThrow('The time takes a time');
});

test.each([
  ['a select', { type: 'static_select', options: [option('Mon')], initial_option: option('Tue') }],
  [
    'a select with groups',
    {
      type: 'static_select',
      option_groups: [{ label: plain('Days'), options: [option('Mon')] }],
      initial_option: option('Tue'),
    },
  ],
  ['radio buttons', { type: 'radio_buttons', options: [option('Mon')], initial_option: option('Tue') }],
  [
    'checkboxes',
    {
      type: 'checkboxes',
      options: [option('Mon'), option('Tue')],
      initial_options: [option('Tue'), option('Wed')],
    },
  ],
])('%s cannot start with what is no option', async (_, element) => {
  const { opens } = await startViews();
  expect(await refusal(opens(modal({ blocks: [input('day', element)] })))).toMatchObject({
    error: 'invalid_arguments',
    response_metadata: {
      messages: ['[ERROR] initial options must be among the options [json-pointer:/view/blocks/0/element]'],
    },
  });
});
