import { createComparisons } from '../../capabilities/compare/comparisons.ts';
import type { DiffMode } from '../../capabilities/compare/version-diff.ts';
import { invalidRequest } from '../../capabilities/jobs/invalid-request.ts';
import { historyUrlOf, isSnapshotId } from '../../capabilities/snapshots/page-identity.ts';
import {
  type SightingView,
  type SnapshotView,
  sightingView,
  snapshotView,
  type VersionDiffView,
  versionDiffView,
  versionOf,
} from '../../capabilities/views/snapshot-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Snapshot } from '../../core/model/snapshot.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import { urlPart } from '../../lib/url-part.ts';
import type { OpenStorage } from '../shell/shell.ts';
import type { ApiClient } from './api-client.ts';

/** The history of pages, as commands read it. */
export interface BackendHistory {
  /** Each content of the page, the one that was seen last first. */
  snapshots(url: string, limit: number): Promise<SnapshotView[]>;
  /** Which job saw which content, the newest first. */
  sightings(url: string, limit: number): Promise<SightingView[]>;
  /** How two snapshots differ, the earlier one first. NOT_FOUND where there is none. */
  diff(before: string, after: string, mode: DiffMode, rules: DiffRules): Promise<VersionDiffView>;
}

export function localHistory(
  { store, blobs }: Pick<OpenStorage, 'store' | 'blobs'>,
  accountId: AccountId,
): BackendHistory {
  const snapshotOf = async (id: string): Promise<Snapshot> => {
    const found = isSnapshotId(id) ? await store.getSnapshot(accountId, id) : null;
    if (found === null) throw new ScrapifieError('NOT_FOUND', `There is no snapshot ${id}.`);
    return found;
  };
  const queryFor = (url: string, limit: number) => {
    const found = historyUrlOf(url);
    if (found === null)
      throw invalidRequest([{ field: 'url', message: 'Must be an absolute http or https URL.' }]);
    // A user of the data folder may read everything in it, private pages too.
    return { accountId, urlKey: found.urlKey, hasPrivate: true, limit };
  };
  return {
    async snapshots(url, limit) {
      return (await store.listSnapshots(queryFor(url, limit))).items.map(snapshotView);
    },
    async sightings(url, limit) {
      return (await store.listSightings(queryFor(url, limit))).items.map(sightingView);
    },
    async diff(before, after, mode, rules) {
      const [a, b] = [await snapshotOf(before), await snapshotOf(after)];
      const comparisons = createComparisons({ store, blobs });
      try {
        return versionDiffView(a, b, await comparisons.versions(versionOf(a), versionOf(b), mode, rules));
      } finally {
        await comparisons.close();
      }
    },
  };
}

export function remoteHistory(client: ApiClient): BackendHistory {
  const listed = <T>(list: string, url: string, limit: number) =>
    Array.fromAsync(client.list<T>(`/v1/${list}?url=${urlPart(url)}`, limit));
  return {
    snapshots: (url, limit) => listed('pages', url, limit),
    sightings: (url, limit) => listed('sightings', url, limit),
    diff(before, after, mode, rules) {
      const query = new URLSearchParams({ mode, rules: JSON.stringify(rules) });
      const [a, b] = [before, after].map(urlPart);
      return client.call('GET', `/v1/snapshots/${a}/diff/${b}?${query}`);
    },
  };
}
