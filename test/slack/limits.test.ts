import { expect, test } from 'vitest';
import { checkMessageBlocks } from '../../demo/slack/block-kit/check.ts';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { SLACK_LIMITS } from '../../src/slack/limits.ts';

const plain = (text: string) => ({ type: 'plain_text', text });
const posted = (block: object): void => void checkMessageBlocks([block], (prefix) => prefix);
const button = (fields: object) =>
  posted({ type: 'actions', elements: [{ type: 'button', action_id: 'a', text: plain('Go'), ...fields }] });
const view = (fields: object, element?: object) => {
  const blocks = element
    ? [{ type: 'input', label: plain('A'), element: { action_id: 'a', ...element } }]
    : [];
  checkView(
    { type: 'modal', title: plain('A'), submit: plain('A'), blocks, ...fields },
    'modal',
    (prefix) => prefix,
  );
};
const select = (count: number, text: string) => {
  const options = Array.from({ length: count }, (_, index) => ({ text: plain(text), value: `${index}` }));
  view({}, { type: 'static_select', options });
};

/** What the stand-in does with so much of each. It limits no error at a field; it cuts or refuses a long `text` later. */
test.each<
  [
    Exclude<keyof typeof SLACK_LIMITS, 'messageText' | 'editedTextBytes' | 'modalFieldError'>,
    (length: number) => void,
  ]
>([
  [
    'messageBlocksText',
    (length) => {
      const elements = [{ type: 'text', text: 'x'.repeat(length) }];
      posted({ type: 'rich_text', elements: [{ type: 'rich_text_section', elements }] });
    },
  ],
  ['buttonText', (length) => button({ text: plain('x'.repeat(length)) })],
  ['buttonValue', (length) => button({ value: 'x'.repeat(length) })],
  ['buttonUrl', (length) => button({ url: 'https://a.example/'.padEnd(length, 'x') })],
  ['optionText', (length) => select(5, 'x'.repeat(length))],
  ['blockId', (length) => posted({ type: 'divider', block_id: 'x'.repeat(length) })],
  ['selectOptions', (length) => select(length, 'x')],
  [
    'inputInitialValue',
    (length) => view({}, { type: 'plain_text_input', initial_value: 'x'.repeat(length) }),
  ],
  ['modalTitle', (length) => view({ title: plain('x'.repeat(length)) })],
])('%s is what the stand-in takes', (name, check) => {
  const limit = SLACK_LIMITS[name];
  expect(() => check(limit)).not.toThrow();
  // Slack names none for the length of all blocks: ours has some room.
  expect(() => check(name === 'messageBlocksText' ? 13_300 : limit + 1)).toThrow();
});
