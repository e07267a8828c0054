import { describe, expect, it } from 'vitest';
import type { JobId, UrlKey } from '../../core/model/ids.ts';
import type { SiteHash, SitePageQuery } from '../../core/ports/job-pages-store.ts';
import { findMovedPages } from './moved-pages.ts';

type Given = Readonly<Record<string, string | { readonly rule: string }>>;

/** Pages by their URLs, which are their keys: the hash of the text, or the rule by which there is no page. */
function storeOf(jobs: Readonly<Record<string, Given>>) {
  return {
    async listSiteHashes({ jobId, after = '' as UrlKey, limit }: SitePageQuery): Promise<SiteHash[]> {
      const entries = Object.entries(jobs[jobId] ?? {}).map(([url, given]) => ({
        urlKey: url as UrlKey,
        url,
        rule: typeof given === 'string' ? null : given.rule,
        textHash: typeof given === 'string' ? given : null,
      }));
      const sorted = entries.sort((one, other) => (one.urlKey < other.urlKey ? -1 : 1));
      return sorted.filter(({ urlKey }) => urlKey > after).slice(0, limit);
    },
  };
}

async function movesOf(before: Given, after: Given, most?: number) {
  const store = storeOf({ before, after });
  const { from, old, isWhole } = await findMovedPages(store, 'before' as JobId, 'after' as JobId, most);
  expect([...old].sort()).toEqual([...from.values()].sort());
  return { moves: Object.fromEntries([...from].map(([to, at]) => [at, to])), isWhole };
}

describe('pages that have moved', () => {
  it('have the text of exactly one page that went', async () => {
    expect(await movesOf({ a: '1', b: '2' }, { b: '2', c: '1' })).toEqual({
      moves: { a: 'c' },
      isWhole: true,
    });
  });

  it('are not those whose text several pages have', async () => {
    expect((await movesOf({ a: '1', b: '1' }, { c: '1' })).moves).toEqual({});
    expect((await movesOf({ a: '1' }, { c: '1', d: '1' })).moves).toEqual({});
  });

  it('are not copies of a page that is still there', async () => {
    expect((await movesOf({ a: '1' }, { a: '1', b: '1' })).moves).toEqual({});
  });

  it('are those that redirect to a page that is new, whatever it says', async () => {
    const after = { a: { rule: 'duplicate.redirect:z' }, z: '9' };
    expect((await movesOf({ a: '1' }, after)).moves).toEqual({ a: 'z' });
    expect((await movesOf({ a: '1', z: '9' }, after)).moves).toEqual({});
  });

  it('are looked for among a bounded number of pages', async () => {
    const before = { a: '1', b: '2', c: '3' };
    const after = { x: '1', y: '2', z: '3' };
    expect(await movesOf(before, after)).toEqual({ moves: { a: 'x', b: 'y', c: 'z' }, isWhole: true });
    expect(await movesOf(before, after, 2)).toEqual({ moves: { a: 'x', b: 'y' }, isWhole: false });
  });
});
