import { isIP } from 'node:net';
import { addressTest } from '../../core/config/field-types.ts';

/** Why an address is not for a crawler; `public` when it is. */
export type AddressClass =
  | 'public'
  | 'unspecified'
  | 'loopback'
  | 'private'
  | 'link-local'
  | 'metadata'
  | 'shared'
  | 'multicast'
  | 'documentation'
  | 'benchmarking'
  | 'reserved'
  | 'invalid';

/**
 * Which addresses that are not public may be fetched: all of them, none, those of a list of addresses and CIDR ranges, or
 * those for which the function returns true. The addresses where clouds give out credentials never are.
 */
export type PrivateAddresses = boolean | string | ((address: string) => boolean);

/** Returns the check of one address, under the operator's permission for private addresses. */
export function mayConnect(allowPrivate: PrivateAddresses): (address: string) => boolean {
  if (allowPrivate === false) return (address) => classifyAddress(address) === 'public';
  if (allowPrivate === true) return (address) => classifyAddress(address) !== 'metadata';
  const isNamed = typeof allowPrivate === 'string' ? addressTest(allowPrivate) : allowPrivate;
  return (address) => {
    const kind = classifyAddress(address);
    return kind === 'public' || (kind !== 'metadata' && isNamed(address));
  };
}

type Range4 = readonly [base: number, bits: number, reason: AddressClass];

const v4 = (cidr: string, reason: AddressClass): Range4 => {
  const slash = cidr.indexOf('/');
  return [parseV4(cidr.slice(0, slash)), Number(cidr.slice(slash + 1)), reason];
};

/** IANA's special-purpose registry, and the addresses where clouds answer with credentials; the first match decides. */
const RANGES_4: readonly Range4[] = [
  v4('169.254.169.254/32', 'metadata'),
  v4('169.254.170.2/32', 'metadata'),
  v4('169.254.170.23/32', 'metadata'),
  v4('169.254.0.23/32', 'metadata'),
  v4('169.254.42.42/32', 'metadata'),
  v4('192.0.0.192/32', 'metadata'),
  v4('100.100.100.200/32', 'metadata'),
  v4('168.63.129.16/32', 'metadata'),
  v4('0.0.0.0/8', 'unspecified'),
  v4('10.0.0.0/8', 'private'),
  v4('100.64.0.0/10', 'shared'),
  v4('127.0.0.0/8', 'loopback'),
  v4('169.254.0.0/16', 'link-local'),
  v4('172.16.0.0/12', 'private'),
  v4('192.0.0.0/24', 'reserved'),
  v4('192.0.2.0/24', 'documentation'),
  v4('192.88.99.0/24', 'reserved'),
  v4('192.168.0.0/16', 'private'),
  v4('198.18.0.0/15', 'benchmarking'),
  v4('198.51.100.0/24', 'documentation'),
  v4('203.0.113.0/24', 'documentation'),
  v4('224.0.0.0/4', 'multicast'),
  v4('240.0.0.0/4', 'reserved'),
];

/** Services of metadata as groups of IPv6 addresses: Amazon (with its containers), Google, Scaleway, OpenStack. */
const METADATA_6: ReadonlySet<string> = new Set(
  ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254', 'fd00:42::42', 'fe80::a9fe:a9fe'].map((address) =>
    parseV6(address).join(),
  ),
);

/**
 * Says what kind of address this is. IPv6 forms that carry an IPv4 address are judged by that address, because
 * a gateway would deliver there. What IANA has not given out as global unicast is `reserved`, so that a range
 * invented later is refused until it is known.
 */
export function classifyAddress(address: string): AddressClass {
  switch (isIP(address)) {
    case 4:
      return classify4(parseV4(address));
    case 6:
      return classify6(parseV6(address));
    default:
      return 'invalid';
  }
}

function parseV4(dotted: string): number {
  let value = 0;
  for (const part of dotted.split('.')) value = value * 256 + Number(part);
  return value;
}

function classify4(address: number): AddressClass {
  for (const [base, bits, reason] of RANGES_4) {
    const size = 2 ** (32 - bits);
    if (address >= base && address < base + size) return reason;
  }
  return 'public';
}

type Groups = readonly [number, number, number, number, number, number, number, number];

function classify6(groups: Groups): AddressClass {
  const [a, b, c, d, e, f] = groups;
  const isZeroTo = (count: number) => groups.slice(0, count).every((group) => group === 0);
  const last4 = groups[6] * 65_536 + groups[7];

  if (isZeroTo(7)) {
    if (groups[7] === 0) return 'unspecified';
    if (groups[7] === 1) return 'loopback';
  }
  if (isZeroTo(5) && f === 0xffff) return classify4(last4); // ::ffff:0:0/96, mapped
  if (isZeroTo(4) && e === 0xffff && f === 0) return classify4(last4); // ::ffff:0:0:0/96, translated
  if (isZeroTo(6)) return worse(classify4(last4), 'reserved'); // ::/96, compatible
  if (a === 0x64 && b === 0xff9b) {
    if (c === 0 && d === 0 && e === 0 && f === 0) return classify4(last4); // NAT64
    return c === 1 ? 'private' : 'reserved'; // 64:ff9b:1::/48, NAT64 of a local network
  }
  if (a >= 0xfc00 && METADATA_6.has(groups.join())) return 'metadata';
  if (a >= 0xfc00 && a < 0xfe00) return 'private';
  if (a >= 0xfe80 && a < 0xfec0) return 'link-local';
  if (a >= 0xfec0 && a < 0xff00) return 'private';
  if (a >= 0xff00) return 'multicast';
  if (a < 0x2000 || a >= 0x4000) return 'reserved';

  if (a === 0x2002) return classify4(b * 65_536 + c); // 6to4
  if (a === 0x2001) {
    if (b === 0) return worse(classify4(0xffff_ffff - last4), classify4(c * 65_536 + d)); // Teredo: client, server
    if (b === 0xdb8) return 'documentation';
    if (b === 2 && c === 0) return 'benchmarking';
    if (b < 0x200) return 'reserved'; // 2001::/23, protocol assignments
  }
  if (a === 0x3fff && b < 0x1000) return 'documentation';
  if ((e & 0xfdff) === 0 && f === 0x5efe) return classify4(last4); // ISATAP
  return 'public';
}

function worse(first: AddressClass, second: AddressClass): AddressClass {
  return first === 'public' ? second : first;
}

/** Only for what isIP calls IPv6; a zone id plays no part. */
function parseV6(text: string): Groups {
  const zone = text.indexOf('%');
  const [head = '', tail] = (zone === -1 ? text : text.slice(0, zone)).split('::');
  const front = groupsOf(head);
  const back = tail === undefined ? [] : groupsOf(tail);
  const gap = new Array<number>(Math.max(0, 8 - front.length - back.length)).fill(0);
  const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = [...front, ...gap, ...back];
  return [a, b, c, d, e, f, g, h];
}

function groupsOf(part: string): number[] {
  if (part === '') return [];
  return part.split(':').flatMap((group) => {
    if (!group.includes('.')) return [Number.parseInt(group, 16)];
    const address = parseV4(group);
    return [Math.floor(address / 65_536), address % 65_536];
  });
}
