import { isIP } from 'node:net';

/** An address, or a range with the first `prefix` bits in common. */
export interface AddressRange {
  address: string;
  prefix: number;
  family: 'ipv4' | 'ipv6';
}

/** Parses addresses and CIDR ranges separated by commas. Returns undefined if one of them is invalid. */
export function readAddresses(list: string): AddressRange[] | undefined {
  const entries = list.split(',').map((entry) => entry.trim());
  const ranges = entries.filter((entry) => entry !== '').map(readRange);
  return ranges.every((range) => range !== undefined) ? ranges : undefined;
}

function readRange(entry: string): AddressRange | undefined {
  const [address = '', prefix, ...more] = entry.split('/');
  const version = isIP(address);
  if (version === 0 || address.includes('%') || more.length > 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const length = prefix === undefined ? bits : Number(/^\d{1,3}$/.test(prefix) ? prefix : Number.NaN);
  return length <= bits ? { address, prefix: length, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined;
}
