import type { DiffMode } from '../../capabilities/compare/page-comparer.ts';
import type { SightingView, SnapshotView, VersionDiffView } from '../../capabilities/views/snapshot-view.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import { urlPart } from '../../lib/url-part.ts';
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

export function historyOver(client: ApiClient): BackendHistory {
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
