import { describe, expect, test } from 'vitest';
import { ana, around, ben, docs, secret, workspace } from '../../test-support/page.tsx';
import { asTyped, commandHints, nameHints, taken } from './conversation/complete.ts';

const commands = (typed: string) => commandHints(typed, workspace.commands).map(({ label }) => label);
const names = (typed: string, cursor = typed.length) =>
  nameHints(typed, cursor, [ana, ben], [docs, secret]).map(({ label }) => label);

describe('commands', () => {
  test.each([
    ['/', ['/docs-export [domain]', '/docs-status']],
    ['/docs-e', ['/docs-export [domain]']],
    ['/docs-export docs.acme.com', ['/docs-export [domain]']],
    ['/nothing', []],
    ['a / b', []],
    ['', []],
  ])('after %j', (typed, expected) => {
    expect(commands(typed)).toEqual(expected);
  });

  test('a command that is taken leaves room for what follows', () => {
    const [hint] = commandHints('/docs-e', workspace.commands);

    expect(hint && taken('/docs-e', 7, hint)).toBe('/docs-export ');
  });
});

describe('names', () => {
  test.each([
    ['@', ['@ana', '@ben']],
    ['hello @br', ['@ben']],
    ['see #d', ['#docs']],
    ['mail@ben', []],
    ['@ben is', []],
  ])('after %j', (typed, expected) => {
    expect(names(typed)).toEqual(expected);
  });

  test('only the word before the cursor counts, and what stands behind it stays', () => {
    const [hint] = nameHints('hi @b there', 5, [ana, ben], []);

    expect(hint && taken('hi @b there', 5, hint)).toBe('hi @ben  there');
  });
});

test('a message is edited as it was typed', () => {
  const { people, conversations } = around.scene;

  expect(asTyped('<@U0BEN> in <#C0DOCS|docs>: a &lt; b, <https://a.example/>', people, conversations)).toBe(
    '@ben in #docs: a < b, https://a.example/',
  );
});
