import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cookie, data } from './session.fixture.ts';
import { isSameData, mergeData, type SessionData } from './session-data.ts';

const NAMES = ['a', 'b', 'c', 'd'] as const;
const ORIGINS = ['https://one.example', 'https://two.example'] as const;

const jars = fc
  .dictionary(fc.constantFrom(...NAMES), fc.constantFrom('1', '2', '3'))
  .map((jar) => Object.entries(jar).map(([name, value]) => cookie(name, value)));
const storages = fc.dictionary(
  fc.constantFrom(...ORIGINS),
  fc.dictionary(fc.constantFrom(...NAMES, '__proto__'), fc.constantFrom('1', '2'), { minKeys: 1 }),
);
const anyData = fc.record({ cookies: jars, localStorage: storages }).map((given) => data(given));

/** As plain names and values, in no order. */
function contentOf({ cookies, localStorage }: SessionData): Map<string, string> {
  const items = Object.entries(localStorage).flatMap(([origin, each]) =>
    Object.entries(each).map(([name, value]) => [`${origin} ${name}`, value] as const),
  );
  return new Map([...cookies.map(({ name, value }) => [name, value] as const), ...items]);
}

describe('merging what two made of one session', () => {
  it('is what one made of it when the other did nothing', () => {
    fc.assert(
      fc.property(anyData, anyData, (before, after) => {
        expect(contentOf(mergeData(before, after, before))).toEqual(contentOf(after));
        expect(contentOf(mergeData(before, before, after))).toEqual(contentOf(after));
      }),
    );
  });

  it('keeps every change of either, and of both the later one', () => {
    fc.assert(
      fc.property(anyData, anyData, anyData, (before, after, theirs) => {
        const [was, own, other, merged] = [before, after, theirs, mergeData(before, after, theirs)].map(
          contentOf,
        );
        for (const key of new Set([
          ...(was?.keys() ?? []),
          ...(own?.keys() ?? []),
          ...(other?.keys() ?? []),
        ])) {
          const isOwn = own?.get(key) !== was?.get(key);
          expect(merged?.get(key)).toBe(isOwn ? own?.get(key) : other?.get(key));
        }
      }),
    );
  });

  it('done twice is done once, as after an answer that was lost', () => {
    fc.assert(
      fc.property(anyData, anyData, anyData, (before, after, theirs) => {
        const once = mergeData(before, after, theirs);
        expect(contentOf(mergeData(before, after, once))).toEqual(contentOf(once));
      }),
    );
  });

  it('puts what changed last, so that the longest unchanged can go first', () => {
    const before = data({ cookies: [cookie('a'), cookie('b'), cookie('c')] });
    const after = data({ cookies: [cookie('a', 'new'), cookie('b'), cookie('c')] });
    expect(mergeData(before, after, before).cookies.map(({ name }) => name)).toEqual(['b', 'c', 'a']);
  });

  it('lets the first who chose a proxy have chosen, and follows who had to leave it', () => {
    const none = data();
    const proxy = (id: string) => data({ proxy: { id, tier: 'residential', country: null } });
    expect(mergeData(none, proxy('p/2'), proxy('p/1')).proxy?.id).toBe('p/1');
    expect(mergeData(none, proxy('p/2'), none).proxy?.id).toBe('p/2');
    expect(mergeData(proxy('p/1'), proxy('p/2'), proxy('p/1')).proxy?.id).toBe('p/2');
    expect(mergeData(proxy('p/1'), proxy('p/1'), proxy('p/3')).proxy?.id).toBe('p/3');
  });

  it('tells cookies apart by domain, path and name', () => {
    const cookies = [
      cookie('a', '1'),
      cookie('a', '2', { path: '/deep' }),
      cookie('a', '3', { domain: 'other.example' }),
      cookie('a', '4', { isHostOnly: false }),
    ];
    expect(mergeData(data(), data({ cookies }), data()).cookies).toEqual(cookies);
    expect(isSameData(data({ cookies }), data({ cookies }))).toBe(true);
  });
});
