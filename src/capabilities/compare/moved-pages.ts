import type { JobId, UrlKey } from '../../core/model/ids.ts';
import { whatOf } from '../../core/model/reasons.ts';
import type { SiteHash, SiteStore } from '../../core/ports/job-pages-store.ts';

/** Pages that are under another URL now. */
export interface MovedPages {
  /** By the key of the new URL: the key of the old one. */
  readonly from: ReadonlyMap<UrlKey, UrlKey>;
  /** Keys of the old URLs. */
  readonly old: ReadonlySet<UrlKey>;
  /** False when so many pages came and went that not all of them were looked at. */
  readonly isWhole: boolean;
}

const HASHES_AT_ONCE = 1_000;
/** Pages that only one of the crawls has, which are kept in memory at about 200 bytes each. */
const MOST_UNMATCHED = 100_000;

/**
 * Finds pages whose text stands under another URL than in the crawl before. A text must be that of one page that went and
 * of one page that came: what many pages have in common says nothing. A URL that redirects to a new one has moved as well.
 */
export async function findMovedPages(
  store: Pick<SiteStore, 'listSiteHashes'>,
  previous: JobId,
  current: JobId,
  mostUnmatched = MOST_UNMATCHED,
): Promise<MovedPages> {
  const gone = new Unmatched(mostUnmatched);
  const came = new Unmatched(mostUnmatched);
  const cameByUrl = new Map<string, UrlKey>();
  const redirected = new Map<UrlKey, string>();
  const [before, after] = [eachHash(store, previous), eachHash(store, current)];
  let [one, other] = [await before.next(), await after.next()];
  while (one.done !== true || other.done !== true) {
    const order = orderOf(one.value?.urlKey, other.value?.urlKey);
    const a = order <= 0 ? one.value : undefined;
    const b = order >= 0 ? other.value : undefined;
    const [pageA, pageB] = [withPage(a), withPage(b)];
    if (pageA !== undefined && pageB === undefined) {
      gone.add(pageA);
      const target = whatOf(b?.rule ?? null, 'duplicate.redirect');
      if (target !== null && redirected.size < mostUnmatched) redirected.set(pageA.urlKey, target);
    } else if (pageB !== undefined && pageA === undefined) {
      came.add(pageB);
      if (cameByUrl.size < mostUnmatched) cameByUrl.set(pageB.url, pageB.urlKey);
    }
    if (order <= 0) one = await before.next();
    if (order >= 0) other = await after.next();
  }
  const from = new Map<UrlKey, UrlKey>();
  const old = new Set<UrlKey>();
  const pair = (newKey: UrlKey | undefined, oldKey: UrlKey): void => {
    if (newKey === undefined || from.has(newKey) || old.has(oldKey)) return;
    from.set(newKey, oldKey);
    old.add(oldKey);
  };
  for (const [oldKey, url] of redirected) pair(cameByUrl.get(url), oldKey);
  for (const [hash, key] of gone.single()) {
    const match = came.of(hash);
    if (match !== null) pair(match, key);
  }
  return { from, old, isWhole: gone.isWhole && came.isWhole };
}

/** The entry when it has a page. */
const withPage = (hash: SiteHash | undefined): SiteHash | undefined =>
  hash?.textHash == null ? undefined : hash;

/** Code units, as the stores order keys. A missing one comes last. */
export function orderOf(one: string | undefined, other: string | undefined): number {
  if (one === other) return 0;
  if (one === undefined) return 1;
  if (other === undefined) return -1;
  return one < other ? -1 : 1;
}

async function* eachHash(
  store: Pick<SiteStore, 'listSiteHashes'>,
  jobId: JobId,
): AsyncGenerator<SiteHash, undefined> {
  for (let after: UrlKey | undefined; ; ) {
    const hashes = await store.listSiteHashes({ jobId, after, limit: HASHES_AT_ONCE });
    yield* hashes;
    after = hashes.at(-1)?.urlKey;
    if (hashes.length < HASHES_AT_ONCE) return undefined;
  }
}

/** Pages by the hash of their text; null where two have the same. */
class Unmatched {
  readonly #keys = new Map<string, UrlKey | null>();
  readonly #most: number;
  isWhole = true;

  constructor(most: number) {
    this.#most = most;
  }

  add({ textHash, urlKey }: SiteHash): void {
    if (textHash === null) return;
    if (this.#keys.has(textHash)) this.#keys.set(textHash, null);
    else if (this.#keys.size < this.#most) this.#keys.set(textHash, urlKey);
    else this.isWhole = false;
  }

  of(hash: string): UrlKey | null {
    return this.#keys.get(hash) ?? null;
  }

  *single(): Generator<readonly [string, UrlKey]> {
    for (const [hash, key] of this.#keys) if (key !== null) yield [hash, key];
  }
}
