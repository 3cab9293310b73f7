import { expect, test } from 'vitest';
import { holdsEmailAddress } from '../../src/docs-api/analytics.ts';

test.each([
  'reset password ana@example.com',
  'ana.lopez+docs@mail.example.co.uk',
  'ANA@EXAMPLE.COM.',
  'mailto:ana@example.com?subject=x',
  'ana\u200B@exa\u00ADmple.com',
  'ana＠example．com',
  'ana@例子.公司',
  'ana@example.xn--p1ai',
  '/u/ana@example.com/settings',
  '/unsubscribe?email=ana%40example.com',
  '/login?next=%2Fu%2Fana%2540example.com',
  '@a ana@example.com',
  '/login?next=%2Fu%2Fana%2540example.com%2Fsettings',
  'an%C3%B6@example.com',
  'is it ana@163.com?',
  'ana@उदाहरण.भारत',
])('%s holds an address', (text) => {
  expect(holdsEmailAddress(text)).toBe(true);
});

test.each([
  '',
  'sso okta',
  '@acme/sdk install',
  '@socket.io/redis-adapter',
  'npm i @acme/sdk.js',
  'sdk@1.2.3 release notes',
  '/cdn/sdk@1.2.3/dist/main.js',
  'https://cdn.example/npm/@acme/sdk.js',
  'sdk@latest',
  '/npm/lodash@es.mjs',
  '/npm/vue@3.prod.js?module',
  '/img/logo@2x.dark.png',
  '/sdk@2.0.0-beta.rc1/install',
  '@Override in java.lang',
  'a @ b.com',
  '100%40',
])('%s holds none', (text) => {
  expect(holdsEmailAddress(text)).toBe(false);
});
