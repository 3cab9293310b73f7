import { expect, test } from 'vitest';
import { readWebAddress } from '../../src/runtime/web-address.ts';

test.each([
  'https://github.com/acme/docs/pull/1?a=b%20c#d',
  'http://docs.acme.com:8080/köln',
  'https://docs.acme.com/@scope/page',
])('%s may become a link', (address) => {
  expect(readWebAddress(address)?.href).toBe(new URL(address).href);
});

test.each([
  'javascript:alert(1)',
  'acme/docs#1',
  'https://',
  'https://github.com@evil.example/acme/docs/pull/1',
  'https://:x@evil.example/',
  'https://github.com%2Facme@evil.example/',
  'https:\\\\github.com:x@evil.example',
  'https://docs.acme.com/\u202Egnp.exe',
  'https://docs.acme.com/%E2%80%AEgnp.exe',
  'https://docs.acme.com/\u2066x',
  'https://docs\u200B.acme.com/',
  'https://docs.acme.com/\u0007',
  'https://docs.acme.com/%0d%0aSet-Cookie:x',
  'https://docs.acme.com/a b',
  `https://docs.acme.com/${'x'.repeat(9000)}`,
])('%.60j is no link', (address) => {
  expect(readWebAddress(address)).toBeUndefined();
});
