import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AddressClass, classifyAddress } from './address-guard.ts';

const CASES: readonly (readonly [string, AddressClass])[] = [
  ['1.1.1.1', 'public'],
  ['8.8.8.8', 'public'],
  ['93.184.216.34', 'public'],
  ['223.255.255.255', 'public'],
  ['0.0.0.0', 'unspecified'],
  ['0.1.2.3', 'unspecified'],
  ['10.0.0.1', 'private'],
  ['9.255.255.255', 'public'],
  ['11.0.0.0', 'public'],
  ['100.63.255.255', 'public'],
  ['100.64.0.0', 'shared'],
  ['100.127.255.255', 'shared'],
  ['100.128.0.0', 'public'],
  ['100.100.100.200', 'metadata'],
  ['127.0.0.1', 'loopback'],
  ['127.255.255.254', 'loopback'],
  ['168.63.129.16', 'metadata'],
  ['169.254.0.1', 'link-local'],
  ['169.254.169.254', 'metadata'],
  ['169.254.170.2', 'metadata'],
  ['172.15.255.255', 'public'],
  ['172.16.0.1', 'private'],
  ['172.31.255.255', 'private'],
  ['172.32.0.0', 'public'],
  ['192.0.0.192', 'metadata'],
  ['192.0.0.193', 'reserved'],
  ['169.254.170.23', 'metadata'],
  ['192.0.2.1', 'documentation'],
  ['192.88.99.1', 'reserved'],
  ['192.168.1.1', 'private'],
  ['198.17.255.255', 'public'],
  ['198.18.0.1', 'benchmarking'],
  ['198.19.255.255', 'benchmarking'],
  ['198.51.100.7', 'documentation'],
  ['203.0.113.9', 'documentation'],
  ['224.0.0.1', 'multicast'],
  ['239.255.255.255', 'multicast'],
  ['240.0.0.1', 'reserved'],
  ['255.255.255.255', 'reserved'],
  ['2606:4700:4700::1111', 'public'],
  ['2a00:1450:4001:80b::200e', 'public'],
  ['::', 'unspecified'],
  ['::1', 'loopback'],
  ['0:0:0:0:0:0:0:1', 'loopback'],
  ['::ffff:127.0.0.1', 'loopback'],
  ['::ffff:7f00:1', 'loopback'],
  ['::ffff:169.254.169.254', 'metadata'],
  ['::ffff:8.8.8.8', 'public'],
  ['::ffff:0:10.0.0.1', 'private'],
  ['::127.0.0.1', 'loopback'],
  ['::8.8.8.8', 'reserved'],
  ['64:ff9b::10.0.0.1', 'private'],
  ['64:ff9b::808:808', 'public'],
  ['64:ff9b:1::1', 'private'],
  ['100::1', 'reserved'],
  ['2001:0:4136:e378:8000:63bf:80ff:fffe', 'loopback'],
  ['2001:0:7f00:1:8000:63bf:f7f7:f7f7', 'loopback'],
  ['2001:0:4136:e378:8000:63bf:f7f7:f7f7', 'public'],
  ['2001:2::1', 'benchmarking'],
  ['2001:10::1', 'reserved'],
  ['2001:20::1', 'reserved'],
  ['2001:db8::1', 'documentation'],
  ['2001:4860:4860::8888', 'public'],
  ['2002:7f00:1::', 'loopback'],
  ['2002:a9fe:a9fe::1', 'metadata'],
  ['2002:808:808::1', 'public'],
  ['2600::5efe:10.0.0.1', 'private'],
  ['3fff::1', 'documentation'],
  ['5f00::1', 'reserved'],
  ['fc00::1', 'private'],
  ['fd00:ec2::254', 'metadata'],
  ['fd00:ec2::255', 'private'],
  ['fd20:ce::254', 'metadata'],
  ['fe80::a9fe:a9fe', 'metadata'],
  ['fe80::1', 'link-local'],
  ['fe80::1%eth0', 'link-local'],
  ['febf::1', 'link-local'],
  ['fec0::1', 'private'],
  ['ff02::1', 'multicast'],
  ['localhost', 'invalid'],
  ['', 'invalid'],
  ['127.1', 'invalid'],
  ['0x7f000001', 'invalid'],
];

test.each(CASES)('%s is %s', (address, expected) => {
  expect(classifyAddress(address)).toBe(expected);
});

describe('odd spellings that a URL turns into an address', () => {
  test.each([
    ['http://2130706433/', 'loopback'],
    ['http://0x7f000001/', 'loopback'],
    ['http://0177.0.0.1/', 'loopback'],
    ['http://127.1/', 'loopback'],
    ['http://0/', 'unspecified'],
    ['http://0xa9fea9fe/', 'metadata'],
    ['http://[::ffff:127.0.0.1]/', 'loopback'],
    ['http://①②⑦.0.0.1/', 'loopback'],
    ['http://127。0。0。1/', 'loopback'],
  ] as const)('%s is %s', (url, expected) => {
    const { hostname } = new URL(url);
    expect(classifyAddress(hostname.replace(/^\[|\]$/g, ''))).toBe(expected);
  });
});

test('an IPv4 address is judged the same however IPv6 wraps it', () => {
  const quad = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255), fc.nat(255));
  fc.assert(
    fc.property(quad, (parts) => {
      const dotted = parts.join('.');
      const hex = parts.map((part) => part.toString(16).padStart(2, '0'));
      const expected = classifyAddress(dotted);
      expect(classifyAddress(`::ffff:${dotted}`)).toBe(expected);
      expect(classifyAddress(`64:ff9b::${dotted}`)).toBe(expected);
      expect(classifyAddress(`2002:${hex[0]}${hex[1]}:${hex[2]}${hex[3]}::1`)).toBe(expected);
    }),
  );
});

test('any text gets an answer, and only addresses can be public', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.ipV4(), fc.ipV6()), (text) => {
      expect(typeof classifyAddress(text)).toBe('string');
    }),
  );
});
