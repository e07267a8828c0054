import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCanonicalizer } from '../../src/crawl/frontier/canonical.ts';

const canonicalize = createCanonicalizer({ ignoreQueryParameters: ['drop', 'x_*'], keepFragment: false });
const withFragment = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: true });

/** Pieces that URLs are made of and break at. */
const piece = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '..',
    '.',
    '%',
    '%2',
    '%2e',
    '%2E',
    '%25',
    '%41',
    '%zz',
    '\\',
    '?',
    '#',
    '&',
    '=',
    ';',
  ),
  fc.constantFrom(
    ';jsessionid=1',
    '%3B',
    'utm_source=1',
    'PHPSESSID=x',
    'sid=',
    ' ',
    '\t',
    '\n',
    '+',
    "'",
    '"',
    '|',
  ),
  fc.constantFrom(
    'é',
    '日本',
    '😀',
    '\u00ad',
    '\u200d',
    '\ud800',
    '\0',
    ':',
    '@',
    '[',
    ']',
    '://',
    'a',
    'B',
    '4',
    '1',
  ),
  fc.string({ maxLength: 4 }),
);
const messyText = fc.array(piece, { maxLength: 12 }).map((pieces) => pieces.join(''));
const origin = fc.constantFrom(
  'https://example.com',
  'http://Example.com:80',
  'https://u:p@example.com:8443',
  'http://[::1]:8080',
  'https://bücher.example.',
  'http://1.2.3',
);
const messyUrl = fc.oneof(
  fc.tuple(origin, messyText).map(([start, rest]) => `${start}/${rest}`),
  messyText,
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
);
const name = fc.stringMatching(/^[a-rt-w]{1,6}$/).filter((text) => !['drop', 'epik', 'igsh'].includes(text));
const parameters = fc.uniqueArray(fc.tuple(name, fc.stringMatching(/^[a-z0-9]{0,6}$/)), {
  selector: ([key]) => key,
  maxLength: 8,
});
const TRACKING = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'fbclid',
  'gclid',
  'msclkid',
  'mc_eid',
  'igshid',
  '_ga',
];
const queryOf = (pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([key, value]) => `${key}=${value}`).join('&');

describe('Property 33: canonical URLs', () => {
  // The seed's property also asks for https. That belongs to records a person reads, where the normaliser of extraction
  // upgrades it; the canonicalizer keeps the scheme, since it names what will be fetched.
  it('carry no tracking parameter and all others', () => {
    fc.assert(
      fc.property(
        parameters,
        fc.subarray(TRACKING),
        fc.infiniteStream(fc.nat()),
        (pairs, tracking, chance) => {
          const mixed = [...pairs];
          for (const key of tracking)
            mixed.splice((chance.next().value ?? 0) % (mixed.length + 1), 0, [key, 'x']);
          const found = new URL(canonicalize(`https://example.com/p?${queryOf(mixed)}`)?.url ?? '');
          expect([...found.searchParams].sort()).toEqual([...pairs].sort());
        },
      ),
    );
  });

  it('do not depend on the order of parameters', () => {
    const shuffled = parameters.chain((pairs) =>
      fc.tuple(
        fc.constant(pairs),
        fc.shuffledSubarray(pairs, { minLength: pairs.length, maxLength: pairs.length }),
      ),
    );
    fc.assert(
      fc.property(shuffled, ([one, other]) => {
        const first = canonicalize(`https://example.com/?${queryOf(one)}`);
        expect(canonicalize(`https://example.com/?${queryOf(other)}`)).toEqual(first);
      }),
    );
  });
});

describe('the canonicalizer', () => {
  it('changes nothing the second time and never throws', () => {
    fc.assert(
      fc.property(messyUrl, fc.option(messyUrl, { nil: undefined }), (raw, base) => {
        for (const own of [canonicalize, withFragment]) {
          const once = own(raw, base);
          if (once === null) continue;
          expect(own(once.url)).toEqual(once);
          expect(own(once.url, once.url)).toEqual(once);
          expect(once.url.startsWith(`${once.origin}/`)).toBe(true);
        }
      }),
      { numRuns: 5_000 },
    );
  });

  it('gives what the plain way gives when it takes a shorter one', () => {
    fc.assert(
      fc.property(messyText, origin, messyText, (raw, start, path) => {
        const base = `${start}/${path}`;
        const resolved = URL.parse(raw, base);
        // Without a base there is no shorter way.
        expect(canonicalize(raw, base)).toEqual(resolved === null ? null : canonicalize(resolved.href));
      }),
      { numRuns: 5_000 },
    );
  });

  it('gives two spellings of one URL the same key, and two URLs different ones', () => {
    const spellings = fc.record({ path: fc.stringMatching(/^[a-z]{1,5}$/), pairs: parameters });
    fc.assert(
      fc.property(spellings, ({ path, pairs }) => {
        const plain = canonicalize(`https://example.com/${path}?${queryOf(pairs)}`);
        const escaped = [...path].map((char) => `%${char.charCodeAt(0).toString(16)}`).join('');
        const spelled = `HTTPS://me@EXAMPLE.com.:443/./${escaped}?${queryOf([...pairs].reverse())}&gclid=1#top`;
        expect(canonicalize(spelled)?.urlKey).toBe(plain?.urlKey);
        expect(canonicalize(`https://example.com/${path}/?${queryOf(pairs)}`)?.urlKey).not.toBe(
          plain?.urlKey,
        );
      }),
    );
  });
});
