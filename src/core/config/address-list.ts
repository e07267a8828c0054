import { BlockList, isIP } from 'node:net';

/** Whether an IP address is on a list. IPv4 addresses in their IPv6 form (`::ffff:…`) count as what they mean. */
export type AddressTest = (address: string) => boolean;

const MAPPED = /^::ffff:(?=\d+\.\d+\.\d+\.\d+$)/i;

/** An address without the form that IPv6 sockets give IPv4 addresses. */
export const plainAddress = (address: string): string => address.replace(MAPPED, '');

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
