import { describe, expect, test } from 'vitest';
import { readAddresses } from '../../src/config/addresses.ts';
import { readSettings } from '../../src/config/settings.ts';
import { problemsOf, sound } from '../support/config/builders.ts';

test('addresses and ranges are read, with blanks around them', () => {
  expect(readAddresses(' 10.0.0.7 ,10.1.0.0/16,, fd00::/8,::1')).toEqual([
    { address: '10.0.0.7', prefix: 32, family: 'ipv4' },
    { address: '10.1.0.0', prefix: 16, family: 'ipv4' },
    { address: 'fd00::', prefix: 8, family: 'ipv6' },
    { address: '::1', prefix: 128, family: 'ipv6' },
  ]);
  expect(readAddresses('')).toEqual([]);
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
  expect(readAddresses(`127.0.0.1,${entry}`)).toBeUndefined();
});

describe('METRICS_ADDRESS', () => {
  test('is empty by default', () => {
    expect(readSettings(sound).metricsAddresses).toEqual([]);
    expect(readSettings({ ...sound, METRICS_ADDRESS: '10.0.0.7' }).metricsAddresses).toHaveLength(1);
  });

  test('says what it may name', () => {
    expect(problemsOf({ ...sound, METRICS_ADDRESS: 'prometheus.internal' })).toEqual([
      'METRICS_ADDRESS must list addresses or ranges separated by commas, such as 10.0.0.7,10.1.0.0/16,fd00::/8.',
    ]);
  });
});
