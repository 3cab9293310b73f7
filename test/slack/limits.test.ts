import type { InputBlock, KnownBlock } from '@slack/types';
import { expect, test } from 'vitest';
import { checkMessageBlocks } from '../../demo/slack/block-kit/check.ts';
import { checkView } from '../../demo/slack/block-kit/view.ts';
import { checkLimit, SLACK_LIMITS } from '../../src/slack/limits.ts';
import { choiceField, textField } from '../../src/slack/modals.ts';

type Check = (length: number) => void;

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

/** What the stand-in does with so much of each. It limits no error at a field; a long `text` it cuts or refuses when it is sent. */
const standIn: Record<
  Exclude<keyof typeof SLACK_LIMITS, 'messageText' | 'editedTextBytes' | 'modalFieldError'>,
  Check
> = {
  messageBlocksText: (length) => posted({ type: 'rich_text', elements: [section('x'.repeat(length))] }),
  buttonText: (length) => button({ text: { type: 'plain_text', text: 'x'.repeat(length) } }),
  buttonValue: (length) => button({ value: 'x'.repeat(length) }),
  buttonUrl: (length) => button({ url: 'https://a.example/'.padEnd(length, 'x') }),
  optionText: (length) => select(5, 'x'.repeat(length)),
  selectOptions: (length) => select(length),
  inputInitialValue: (length) =>
    view({}, [textField({ block: 'a', label: 'A', multiline: true, initial: 'x'.repeat(length) })]),
  modalTitle: (length) => view({ title: { type: 'plain_text', text: 'x'.repeat(length) } }),
  modalPrivateMetadata: (length) => view({ private_metadata: 'x'.repeat(length) }),
};

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
});
