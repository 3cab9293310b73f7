import { expect, test } from 'vitest';
import { type Reply, refusal } from '../test-support/bot.ts';
import { input, modal, option, plain, startViews } from '../test-support/views.ts';

test('a modal opens, is filled in and closes', async () => {
  const { slack, bot, ana, opens } = await startViews();
  await opens(modal());
  expect(ana.modal()?.definition.callback_id).toBe('settings');
  await expect(ana.submits({})).rejects.toThrow('The name has to be filled in');
  await expect(ana.submits({ 'The name': 'x', colour: 'red' })).rejects.toThrow('No input called colour');
  expect(await ana.submits({ 'The name': 'acme', day: 'Monday' })).toMatchObject({ ok: true });
  expect(bot.received.at(-1)?.json).toMatchObject({
    type: 'view_submission',
    user: { id: 'U0ANA' },
    view: {
      callback_id: 'settings',
      private_metadata: 'p',
      state: {
        values: {
          name: { value: { type: 'plain_text_input', value: 'acme' } },
          day: { value: { type: 'static_select', selected_option: { value: 'mon' } } },
        },
      },
    },
  });
  expect(ana.modal()).toBeUndefined();
  expect(slack.violations).toEqual([]);
});

test('a submission can be answered with errors, another view, or the end of all', async () => {
  const answers: Reply[] = [
    { body: { response_action: 'errors', errors: { name: 'Too short' } } },
    { body: { response_action: 'push', view: modal({ title: plain('Sure?'), blocks: [] }) } },
    { body: { response_action: 'update', view: modal({ title: plain('Really?'), blocks: [] }) } },
    { body: { response_action: 'clear' } },
  ];
  const { slack, ana, opens } = await startViews(({ json }) =>
    json.type === 'view_submission' ? (answers.shift() ?? {}) : {},
  );
  await opens(modal());
  expect(await ana.submits({ name: 'x' })).toMatchObject({ errors: { name: 'Too short' } });
  expect(ana.reads(ana.modal())).toBe('Settings\nThe name\nThe day\n[The day]\nToo short\n[Save] [Cancel]');
  await ana.submits({ name: 'acme' });
  expect(ana.modal()?.definition.title?.text).toBe('Sure?');
  await ana.submits();
  expect(ana.modal()?.definition.title?.text).toBe('Really?');
  await ana.submits();
  expect(ana.modal()).toBeUndefined();
  expect(slack.violations).toEqual([]);
});

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

test('the fields of a modal are read, filled in and submitted; what is wrong stands beside them', async () => {
  const answers: Reply[] = [{ body: { response_action: 'errors', errors: { name: 'Taken' } } }];
  const { slack, bot, ana, opens } = await startViews(({ json }) =>
    json.type === 'view_submission' ? (answers.shift() ?? {}) : {},
  );
  await opens(several);
  expect(ana.fields()).toMatchObject([
    { label: 'The name', blockId: 'name', value: '', options: [], optional: false, hint: 'As you like' },
    { label: 'The note', value: 'hi', optional: true },
    { label: 'The day', type: 'static_select', value: '', options: ['Mon', 'Tue'] },
    { label: 'The kind', value: 'Fast', options: ['Fast', 'Full'] },
    { label: 'The parts', value: [], options: ['Api', 'Guides'] },
  ]);
  ana.fills({ 'The name': 'acme', 'The day': 'Tue', note: '' });
  await expect(ana.submits()).rejects.toThrow('The parts has to be filled in');
  const answer = await ana.submits({ 'The kind': 'Full', 'The parts': ['Guides', 'Api'] });
  expect(answer).toMatchObject({ ok: true, errors: { name: 'Taken' } });
  const [name, ...others] = ana.fields();
  expect(name).toMatchObject({ value: 'acme', error: 'Taken' });
  expect(others.map(({ value, error }) => [value, error])).toEqual([
    ['', undefined],
    ['Tue', undefined],
    ['Full', undefined],
    [['Guides', 'Api'], undefined],
  ]);
  await ana.submits({ name: 'other' });
  expect(ana.modal()).toBeUndefined();
  expect(bot.received.at(-1)?.json).toMatchObject({
    type: 'view_submission',
    team: { id: 'T0ACME', domain: 'acme' },
    user: { id: 'U0ANA', team_id: 'T0ACME' },
    trigger_id: expect.any(String),
    response_urls: [],
    view: {
      callback_id: 'settings',
      private_metadata: 'p',
      hash: expect.any(String),
      app_installed_team_id: 'T0ACME',
      state: {
        values: {
          name: { value: { type: 'plain_text_input', value: 'other' } },
          note: { value: { type: 'plain_text_input', value: null } },
          day: { value: { type: 'static_select', selected_option: option('Tue') } },
          kind: { value: { type: 'radio_buttons', selected_option: option('Full') } },
          parts: { value: { type: 'checkboxes', selected_options: [option('Guides'), option('Api')] } },
        },
      },
    },
  });
  expect(slack.violations).toEqual([]);
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

test('an input that wants to says at once what was chosen', async () => {
  const { bot, ana, opens } = await startViews();
  const day = input(
    'day',
    { type: 'static_select', options: [option('Mon')], placeholder: plain('Day') },
    { dispatch_action: true },
  );
  await opens(modal({ blocks: [day] }));
  const view = ana.modal();
  if (!view) throw new Error('no modal');
  await ana.chooses(view, 'The day', 'Mon');
  expect(bot.received.at(-1)?.json).toMatchObject({
    type: 'block_actions',
    container: { type: 'view', view_id: view.id },
    actions: [{ block_id: 'day', selected_option: { value: 'mon' } }],
  });
  expect(bot.received.at(-1)?.json).not.toHaveProperty('response_url');
  expect(ana.fields()[0]?.value).toBe('Mon');
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

test('channels, times, grouped options and checkboxes are shown as a person sees them', async () => {
  const { slack, bot, ana, opens } = await startViews();
  await opens(schedule(slack.channel('#docs').id));
  expect(ana.fields()).toMatchObject([
    { label: 'The where', value: '#docs' },
    { label: 'The time', value: '09:00' },
    { label: 'The zone', value: 'Berlin', options: ['UTC', 'Berlin', 'Paris'] },
    { label: 'The parts', value: ['Api'] },
  ]);
  await ana.submits({ where: '#private', time: '16:45', zone: 'UTC', parts: [] });
  expect(bot.received.at(-1)?.json).toMatchObject({
    view: {
      state: {
        values: {
          where: { value: { selected_conversation: slack.channel('#private').id } },
          time: { value: { selected_time: '16:45' } },
          zone: { value: { selected_option: option('UTC') } },
          parts: { value: { selected_options: [] } },
        },
      },
    },
  });
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
