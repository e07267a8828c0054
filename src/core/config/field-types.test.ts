import { describe, expect, it } from 'vitest';
import { addressTest, readAddressList } from './field-types.ts';

describe('a list of addresses', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1', true],
    ['127.0.0.1', '::ffff:127.0.0.1', true],
    ['127.0.0.1', '127.0.0.2', false],
    ['10.0.0.0/8, 192.0.2.7', '10.200.3.4', true],
    ['10.0.0.0/8, 192.0.2.7', '192.0.2.7', true],
    ['10.0.0.0/8, 192.0.2.7', '192.0.2.8', false],
    ['::1, 2001:db8::/32', '2001:db8:5::1', true],
    ['::1, 2001:db8::/32', '10.0.0.1', false],
    ['', '127.0.0.1', false],
    ['10.0.0.0/8', 'nonsense', false],
  ])('%s holds %s: %s', (list, address, expected) => {
    expect(addressTest(list)(address)).toBe(expected);
  });

  it.each(['localhost', '10.0.0.0/33', '10.0.0', '::1/129', '*', '10.0.0.0/'])('%s is none', (list) => {
    expect(readAddressList(list)).toBeNull();
  });
});
