import { describe, expect, test } from 'vitest';
import { addresses } from '../../src/config/settings.ts';
import { problemsOf, sound } from '../support/config/builders.ts';

test('addresses and ranges are read, with blanks around them', () => {
  const list = addresses.parse(' 10.0.0.7 ,10.1.0.0/16,, fd00::/8,::1');
  for (const address of ['10.0.0.7', '10.1.255.255']) expect(list.check(address, 'ipv4')).toBe(true);
  for (const address of ['10.0.0.8', '10.2.0.0']) expect(list.check(address, 'ipv4')).toBe(false);
  for (const address of ['fd12::3', '::1']) expect(list.check(address, 'ipv6')).toBe(true);
  expect(list.check('::2', 'ipv6')).toBe(false);
  expect(addresses.parse('').rules).toEqual([]);
});

test.each([
  'prometheus',
  '10.0.0',
  '10.0.0.0/33',
  '10.0.0.0/',
  '10.0.0.0/-1',
  '10.0.0.0/8/8',
  'fd00::/129',
  'fe80::1%eth0',
  '*',
  '10.0.0.1 10.0.0.2',
])('what is none is refused: %s', (entry) => {
  expect(addresses.safeParse(`127.0.0.1,${entry}`).success).toBe(false);
});

describe('METRICS_ADDRESS', () => {
  test('says what it may name', () => {
    expect(problemsOf({ ...sound, METRICS_ADDRESS: 'prometheus.internal' })).toEqual([
      'METRICS_ADDRESS must list addresses or ranges separated by commas, such as 10.0.0.7,10.1.0.0/16,fd00::/8.',
    ]);
  });
});
