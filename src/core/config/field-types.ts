import { BlockList, isIP } from 'node:net';
import { z } from 'zod';

export const bool = z.union(
  [z.boolean(), z.stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] })],
  { error: 'must be true or false' },
);

const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

/** An address without the form that IPv6 sockets give IPv4 addresses. */
export const plainAddress = (address: string): string => address.replace(MAPPED, '');

export const addresses = z
  .string()
  .refine(
    (text) => readAddressList(text) !== null,
    'must be IP addresses or CIDR ranges, separated by commas',
  );
export const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);

/** A key as a header can carry it. */
export const keyText = z
  .string()
  .min(16)
  .regex(/^\P{Cc}*$/u, 'must have no line breaks or other control characters, which no header can carry');

/**
 * For `meta`: the setting counts from the `.env` of a folder that is not trusted. Only amounts and choices of words
 * whose worst value costs time: nothing that names code, a place or an address, opens a guard, spends or deletes.
 */
export const FROM_ANY_FOLDER = { fromAnyFolder: true } as const;

/** Whether an IP address is on a list. IPv4 addresses in their IPv6 form (`::ffff:…`) count as what they mean. */
export type AddressTest = (address: string) => boolean;

/** Reads addresses and CIDR ranges, separated by commas; null when one of them is neither. */
export function readAddressList(text: string): AddressTest | null {
  const list = new BlockList();
  const entries = text
    .split(',')
    .map((entry) => entry.trim())
    .filter((entry) => entry !== '');
  for (const entry of entries) {
    const [, address = '', bits] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(entry) ?? [];
    const version = isIP(address);
    if (version === 0) return null;
    const family = version === 4 ? 'ipv4' : 'ipv6';
    const most = version === 4 ? 32 : 128;
    const prefix = bits === undefined ? most : Number(bits);
    if (prefix > most) return null;
    list.addSubnet(address, prefix, family);
  }
  if (entries.length === 0) return () => false;
  return (address) => {
    const plain = plainAddress(address);
    const version = isIP(plain);
    return version !== 0 && list.check(plain, version === 4 ? 'ipv4' : 'ipv6');
  };
}

/** For settings, which were checked when they were read: a wrong list would be a fault. */
export function addressTest(text: string): AddressTest {
  const test = readAddressList(text);
  if (test === null) throw new TypeError('Not a list of addresses.');
  return test;
}

export const isLoopback = addressTest('127.0.0.0/8,::1');

/** `name=value` pairs with commas between them and percent-encoded values. Returns null when the text is none. */
export function readPairs(text: string): ReadonlyMap<string, string> | null {
  const pairs = new Map<string, string>();
  for (const part of text.split(',')) {
    if (part.trim() === '') continue;
    const [, name = '', value = ''] = /^\s*([\w.-]+)\s*=(.*)$/.exec(part) ?? [];
    if (name === '') return null;
    try {
      pairs.set(name, decodeURIComponent(value.trim()));
    } catch {
      return null;
    }
  }
  return pairs;
}
