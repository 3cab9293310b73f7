import { expect, test } from 'vitest';
import { isGitRef } from '../../src/runtime/git-ref.ts';

test.each([
  ...['main', 'agent/quickstart', 'v1.2.3', 'user@host', 'a.lock.b', 'fix-#12', 'entwürfe/日本', '1', 'a]b'],
  ...['refs/heads/main', 'x'.repeat(200)],
])('%j can be a branch', (name) => expect(isGitRef(name)).toBe(true));

// `git check-ref-format --branch` refuses all but the last four.
test.each([
  ...[
    '',
    '@',
    'HEAD',
    '-x',
    '/a',
    'a/',
    'a//b',
    'a.',
    '.a',
    'a/.b',
    'a..b',
    'a.lock',
    'a.lock/b',
    '@{u}',
    'a@{1}',
  ],
  ...['a b', 'a~1', 'a^', 'a:b', 'a?', 'a*', 'a[b', 'a\\b', 'a\u0000b', 'a\u007Fb', 'a\nb'],
  ...['a\u202Eb', 'a\u00A0b', '<https://a.example|a>', 'x'.repeat(201)],
])('%j cannot', (name) => expect(isGitRef(name)).toBe(false));
