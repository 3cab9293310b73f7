import { expect, test } from 'vitest';
import { isPublicAddress, readWebAddress } from '../../src/runtime/web-address.ts';

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

test.each([
  'https://files.acme.com/a b.png',
  'https://files.acme.com/a.png',
  'https://x-1.example.co/',
  'https://bücher.example/a',
])('a public host, unless its address is none: %s', (address) =>
  expect(isPublicAddress(address)).toBe(!address.includes(' ')),
);

test.each([
  'http://files.acme.com/a.png',
  'https://files.acme.com:444/a.png',
  'https://bob@files.acme.com/a.png',
  'https://files.acme.com/a.png?',
  'https://files.acme.com/a.png?v=1',
  'https://files.acme.com/a.png#a',
  'https://files/a.png',
  'https://localhost/a.png',
  'https://a.localhost/a.png',
  'https://printer.local/a.png',
  'https://a.internal/a.png',
  'https://a.LAN/a.png',
  'https://a.lan./a.png',
  'https://files.acme.com./a.png',
  'https://169.254.169.254/latest',
  'https://2130706433/a.png',
  'https://0x7f.1/a.png',
  'https://[::1]/a.png',
  'https://[2001:db8::1]/a.png',
  'javascript:alert(1)',
  `https://${'a.'.repeat(3999)}com/`,
])('not the address of a public host: %.60s', (address) => {
  expect(isPublicAddress(address)).toBe(false);
});
