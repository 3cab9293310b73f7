import { expect, test } from 'vitest';
import { manifestOf, readManifest } from './manifest.ts';

test('reads what Docket may do', () => {
  const { commands, scopes, interactive } = readManifest();
  expect(commands).toContainEqual({
    command: '/docs-export',
    description: expect.any(String),
    usageHint: expect.any(String),
    shouldEscape: false,
  });
  expect(scopes).toEqual(expect.arrayContaining(['commands', 'chat:write', 'channels:history']));
  expect(interactive).toBe(true);
});

test('an empty manifest allows nothing', () => {
  expect(manifestOf({})).toEqual({
    commands: [],
    shortcuts: [],
    scopes: [],
    events: [],
    interactive: false,
    homeTab: false,
    socketMode: false,
  });
});

test.each([
  ['a command without a slash', { features: { slash_commands: [{ command: 'docs' }] } }],
  ['a long command', { features: { slash_commands: [{ command: `/${'x'.repeat(32)}` }] } }],
  [
    'a long shortcut',
    { features: { shortcuts: [{ name: 'x'.repeat(25), type: 'global', callback_id: 'a' }] } },
  ],
])('refused: %s', (_, manifest) => {
  expect(() => manifestOf(manifest)).toThrow();
});
