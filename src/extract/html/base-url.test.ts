import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BaseUrl, srcsetCandidates } from './links.ts';

const BASES = [
  'https://example.com/a/b/page.html?q=1#f',
  'http://127.0.0.1:8080/',
  'https://user:secret@example.com:8443/x/',
  'https://xn--bcher-kva.example/a',
];

function baseOf(url: string): BaseUrl {
  const base = BaseUrl.parse(url);
  if (base === null) throw new Error(`no URL: ${url}`);
  return base;
}

/** What the URL standard says, less what a crawl can't fetch. */
function expected(reference: string, base: string): string | null {
  const bare = reference.replace(/^[\0-\x20]+/, '');
  if (bare === '' || bare.startsWith('#')) return null;
  const href = URL.parse(reference, base)?.href;
  return href !== undefined && /^https?:/.test(href) ? href : null;
}

const piece = fc.oneof(
  fc.constantFrom(
    ...[
      '/',
      '//',
      '\\',
      '.',
      '..',
      '/./',
      '/../',
      '%2e',
      '%2E%2e',
      '?',
      '#',
      ':',
      '@',
      'a',
      'B',
      'é',
      ' ',
      '\t',
      '\n',
      '\0',
    ],
    ...[
      'http:',
      'https://',
      'HTTP://',
      'javascript:',
      'mailto:x',
      'data:',
      'tel:1',
      'example.com',
      'EXAMPLE.org',
      'xn--a',
    ],
    ...[
      'https://example.com/',
      'https://example.com',
      'https://example.com:443/',
      'http://a.b.c/x',
      'http://1.2.3.4/',
      '0x7f.1',
    ],
    ...[
      "'",
      '"',
      '<',
      '>',
      '|',
      '^',
      '{',
      '}',
      '`',
      '~',
      '[',
      ']',
      '%',
      '%zz',
      '&',
      ';',
      '=',
      '+',
      ',',
      '$',
      '-',
      '_',
      'a.b-c/',
    ],
  ),
  fc.string({ maxLength: 4 }),
);
const reference = fc.array(piece, { maxLength: 8 }).map((pieces) => pieces.join(''));

describe('BaseUrl', () => {
  it('resolves everything as the URL standard does', () => {
    fc.assert(
      fc.property(reference, fc.constantFrom(...BASES), (written, base) => {
        expect(baseOf(base).resolve(written)).toBe(expected(written, base));
      }),
      { numRuns: 5_000 },
    );
  });

  it('leads nowhere for other schemes, fragments, nothing and what is too long', () => {
    const base = baseOf('https://example.com/a');
    const useless = [
      '',
      ' ',
      '#',
      '#top',
      ' #x',
      'javascript:void(0)',
      'JavaScript:x',
      'mailto:a@b.c',
      'tel:1',
      'data:,x',
    ];
    for (const written of [
      ...useless,
      'ftp://x/y',
      'java\nscript:x',
      'http://',
      'http://a b/',
      `/${'x'.repeat(5_000)}`,
    ]) {
      expect(base.resolve(written), written).toBeNull();
    }
  });

  it('knows only absolute links where the page has no address', () => {
    expect(BaseUrl.NOWHERE.resolve('/x')).toBeNull();
    expect(BaseUrl.NOWHERE.resolve('x.html')).toBeNull();
    expect(BaseUrl.NOWHERE.resolve('https://example.com/x')).toBe('https://example.com/x');
  });

  it('can be relative itself', () => {
    const page = baseOf('https://example.com/a/b');
    expect(BaseUrl.parse('../c/', page)?.resolve('d')).toBe('https://example.com/c/d');
    expect(BaseUrl.parse('http://[')).toBeNull();
  });
});

describe('a base that a page names', () => {
  it('is that of its links, unless it is longer than any of them may be: each would copy it', () => {
    const page = baseOf('https://example.com/a/');
    expect(BaseUrl.parse('/b/', page)?.resolve('c')).toBe('https://example.com/b/c');
    expect(BaseUrl.parse(`/${'x'.repeat(4_000)}/`, page)?.resolve('c')).toMatch(/x\/c$/);
    expect(BaseUrl.parse(`/${'x'.repeat(1_000_000)}/`, page)).toBeNull();
  });
});

describe('srcsetCandidates', () => {
  it('reads addresses and descriptors', () => {
    expect(srcsetCandidates(' a.png 1x , b,c.png 2x,\n/d?e=1,2 100w, f,g')).toEqual([
      { url: 'a.png', descriptor: '1x' },
      { url: 'b,c.png', descriptor: '2x' },
      { url: '/d?e=1,2', descriptor: '100w' },
      { url: 'f,g', descriptor: '' },
    ]);
    expect(srcsetCandidates('a, b,,, c')).toHaveLength(3);
  });

  it('reads nothing from nothing, and not too much', () => {
    expect(srcsetCandidates('')).toEqual([]);
    expect(srcsetCandidates(' , ,')).toEqual([]);
    expect(srcsetCandidates('a 1x,'.repeat(1_000))).toHaveLength(64);
  });
});
