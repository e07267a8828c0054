import { describe, expect, it } from 'vitest';
import { QueryTraps } from './traps.ts';

const NOW = Date.UTC(2026, 5, 1);
const range = (count: number) => Array.from({ length: count }, (_, at) => at);

/** The verdicts on URLs of one site, in their order. */
function judge(urls: readonly string[]): (string | null)[] {
  const traps = new QueryTraps();
  return urls.map((url) => traps.trapIn(`https://site.test${url}`, NOW));
}
const trapped = (urls: readonly string[]) => judge(urls).filter((trap) => trap !== null).length;

describe('calendars', () => {
  it.each(['/cal?date=2031-05-01', '/cal?month=2031-05', '/cal?day=20310501', '/cal?year=2031&month=5'])(
    '%s lies too far ahead',
    (url) => expect(judge([url])).toEqual(['query-calendar']),
  );

  it('of next year are pages, and dates without end on one path are not', () => {
    expect(trapped(['/cal?date=2027-12-31'])).toBe(0);
    const days = range(1_000).map((day) => new Date(NOW - day * 86_400_000).toISOString().slice(0, 10));
    expect(trapped(days.map((day) => `/archive?date=${day}`))).toBe(600);
  });

  it('are known by the names of parameters: numbers elsewhere are no dates', () => {
    expect(trapped(range(2_000).map((id) => `/item?id=${30_000_000 + id}`))).toBe(0);
  });
});

describe('combinations of filters', () => {
  const values = range(7);
  const facets = values.flatMap((color) =>
    values.flatMap((size) =>
      values.flatMap((brand) => [
        `/list?brand=${brand}&color=${color}&size=${size}`,
        `/list?brand=${brand}&color=${color}&price=1&size=${size}`,
        `/list?brand=${brand}&color=${color}&sale=1&size=${size}`,
        `/list?brand=${brand}&color=${color}&new=1&sale=1&size=${size}`,
      ]),
    ),
  );

  it('are left out once there are too many of one path', () => {
    expect(judge(facets.slice(0, 256)).every((trap) => trap === null)).toBe(true);
    expect(
      judge(facets)
        .slice(256)
        .every((trap) => trap === 'query-facets'),
    ).toBe(true);
  });

  it('that a single parameter holds count as well', () => {
    const urls = range(2_000).map(
      (at) =>
        `/list?f=${range(3 + (at % 5))
          .map((n) => `${n}-${at}`)
          .join(',')}`,
    );
    expect(trapped(urls)).toBe(2_000 - 256);
  });

  it('are not pages that always have the same parameters', () => {
    expect(trapped(range(2_000).map((id) => `/show?cat=${id % 9}&id=${id}&lang=en&section=2`))).toBe(0);
    expect(trapped(range(2_000).map((page) => `/list?color=red&page=${page}&pagesize=20&sort=price`))).toBe(
      0,
    );
  });
});

describe('sessions', () => {
  const token = (at: number) => `a1b2c3d4e5f6${String(at).padStart(6, '0')}`;

  it('that make the same page again and again are left out', () => {
    expect(trapped(range(100).map((at) => `/p?usersession=${token(at)}`))).toBe(92);
  });

  it('do not make ids of pages suspicious', () => {
    expect(trapped(range(100).map((at) => `/p?id=${token(at)}`))).toBe(0);
  });
});

it('what was admitted is admitted again', () => {
  const traps = new QueryTraps();
  const urls = range(100).map((at) => `https://site.test/p?token=abcdef012345${at + 100}`);
  const first = urls.map((url) => traps.trapIn(url, NOW));
  expect(urls.map((url) => traps.trapIn(url, NOW))).toEqual(first);
  expect(first.filter((trap) => trap === null)).toHaveLength(8);
});
