import { describe, expect, test } from 'vitest';
import { around } from '../../test-support/page.tsx';
import type { Block } from '../protocol.ts';
import { missing, submitted } from './modal/form.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const input = (id: string, element: object, rest: object = {}): Block => ({
  type: 'input',
  block_id: id,
  label: plain(id),
  element: { action_id: 'value', ...element },
  ...rest,
});
const option = (text: string) => ({ text: plain(text), value: text.toLowerCase() });

const blocks = [
  input('site', { type: 'plain_text_input' }),
  input('note', { type: 'plain_text_input', multiline: true }, { optional: true }),
  input('day', {
    type: 'static_select',
    options: [option('Monday'), option('Friday')],
    initial_option: option('Friday'),
  }),
  input('zone', { type: 'static_select', options: [option('UTC')] }, { optional: true }),
  input('where', { type: 'conversations_select', initial_conversation: 'C0DOCS' }),
  input('parts', {
    type: 'checkboxes',
    options: [option('Pages'), option('Searches')],
    initial_options: [option('Pages')],
  }),
];

describe('a modal', () => {
  test('sends what is filled in, and else what it began with', () => {
    expect(submitted(blocks, { site: 'docs.acme.com', parts: ['Searches'] }, around)).toEqual({
      site: 'docs.acme.com',
      note: '',
      day: 'Friday',
      where: 'C0DOCS',
      parts: ['Searches'],
    });
  });

  test('says what is missing before the app is asked', () => {
    expect(Object.keys(missing(blocks, {}, around))).toEqual(['site']);
    expect(Object.keys(missing(blocks, { site: 'a', parts: [] }, around))).toEqual(['parts']);
  });
});
