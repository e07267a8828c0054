import { hash } from 'node:crypto';
import type { AccountId, SnapshotId, UrlKey } from '../../core/model/ids.ts';
import type { SightedPage } from '../../core/ports/snapshot-store.ts';
import { type Canonicalizer, createCanonicalizer } from '../../crawl/frontier/canonical.ts';

/** The URL under which pages have their history. */
export interface HistoryUrl {
  readonly url: string;
  readonly urlKey: UrlKey;
}

const plain = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: false });
const withFragment = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: true });

/**
 * The canonical form of a URL, whatever a single job left out of it; null when it is none. A fragment counts only where
 * the job takes pages that differ after `#` for different ones.
 */
export function historyUrlOf(raw: string, keepFragment = false): HistoryUrl | null {
  const canonical: Canonicalizer = keepFragment ? withFragment : plain;
  const found = canonical(raw);
  return found === null ? null : { url: found.url, urlKey: found.urlKey };
}

/**
 * Whether the page shows what is at its URL: not an error, a block page, a CAPTCHA, a log-in wall, a page that says that
 * there is none, an empty one, or one that only scripts would fill.
 */
export function isRealPage({
  errorCode,
  outcome,
  statusCode,
  contentHash,
}: Pick<SightedPage, 'errorCode' | 'outcome' | 'statusCode' | 'contentHash'>): boolean {
  if (errorCode !== null || contentHash === null) return false;
  if (outcome !== null && outcome !== 'ok') return false;
  return statusCode === null || statusCode < 300 || statusCode === 304;
}

const digest = (...parts: readonly (string | null)[]): string =>
  hash('sha256', JSON.stringify(parts), 'hex').slice(0, 32);

/**
 * The hash of the normalized content: the visible text in its order, white space collapsed, and the title. Markup,
 * scripts, hidden fields, nonces and the like are not in it. Of bodies without text it is all the bytes. `factsHash` tells
 * contents with the same text apart (see `hiddenFactsOf`); the first content with a text has none.
 */
export function contentHashOf(
  { textHash, contentHash, title }: Pick<SightedPage, 'textHash' | 'contentHash' | 'title'>,
  factsHash: string | null,
): string {
  return digest(textHash ?? contentHash, title, factsHash);
}

export const snapshotIdOf = (
  account: AccountId,
  urlKey: UrlKey,
  content: string,
  isPrivate: boolean,
): SnapshotId => `snap_${digest(account, urlKey, content, isPrivate ? 'private' : null)}` as SnapshotId;

const SNAPSHOT_ID = /^snap_[0-9a-f]{32}$/;

export const isSnapshotId = (text: string): text is SnapshotId => SNAPSHOT_ID.test(text);
