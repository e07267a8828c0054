import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseLinkHeader } from './links.ts';

describe('parseLinkHeader', () => {
  it('reads tokens, quoted strings and several links', () => {
    expect(
      parseLinkHeader('<a>; REL=Next, <b,c> ; rel = "prev up"; title="x, \\"y\\"; z" ; type="Text/HTML",<d>'),
    ).toEqual([
      { href: 'a', rel: 'next', type: null, hreflang: null, title: null },
      { href: 'b,c', rel: 'prev up', type: 'text/html', hreflang: null, title: 'x, "y"; z' },
      { href: 'd', rel: '', type: null, hreflang: null, title: null },
    ]);
  });

  it('takes the first of repeated parameters and passes over nonsense', () => {
    expect(parseLinkHeader('<a>; rel=next; rel=prev')[0]?.rel).toBe('next');
    expect(parseLinkHeader('junk, <a; rel=x')).toEqual([]);
    expect(parseLinkHeader('<a>; rel="open')).toHaveLength(1);
    expect(parseLinkHeader(null)).toEqual([]);
  });

  it('reads anything', () => {
    fc.assert(fc.property(fc.string(), (header) => Array.isArray(parseLinkHeader(header))));
  });
});
