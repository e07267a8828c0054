import { z } from 'zod';
import type { Snapshot } from '../../core/model/snapshot.ts';
import { withoutBytes } from '../../extract/diff/compare-pages.ts';
import { knownSnapshot } from '../compare/earlier-versions.ts';
import type { PageVersion } from '../compare/page-version.ts';
import { DIFF_MODES, type VersionDiff } from '../compare/version-diff.ts';
import { selfLinks, selfSchema } from './list.ts';

const sideSchema = z.object({
  id: z.string(),
  url: z.string(),
  firstSeenAt: z.string(),
  title: z.string().nullable(),
});

export const versionDiffSchema = z
  .object({
    mode: z.enum(DIFF_MODES),
    isChanged: z.boolean().describe('False exactly when the diff is empty.'),
    diff: z.unknown().describe('By `mode`; see docs/diff.md.'),
    before: sideSchema,
    after: sideSchema,
    links: selfSchema,
  })
  .meta({ id: 'SnapshotDiff' });

export type VersionDiffView = VersionDiff & Omit<z.output<typeof versionDiffSchema>, keyof VersionDiff>;

export const versionOf = (snapshot: Snapshot): PageVersion =>
  knownSnapshot(snapshot, snapshot.lastSeenAt).version;

export function versionDiffView(before: Snapshot, after: Snapshot, found: VersionDiff): VersionDiffView {
  return {
    ...withoutPictures(found),
    before: sideView(before),
    after: sideView(after),
    links: selfLinks('snapshots', before.id, 'diff', after.id),
  };
}

const sideView = ({ id, url, firstSeenAt, title }: Snapshot) => ({
  id,
  url,
  firstSeenAt: new Date(firstSeenAt).toISOString(),
  title,
});

/** The bytes of a picture are an answer of their own. */
function withoutPictures(found: VersionDiff): VersionDiff {
  if (found.mode === 'visual')
    return { ...found, diff: found.diff === null ? null : { ...withoutBytes(found.diff), picture: null } };
  if (found.mode !== 'rules' || found.diff.picture === null) return found;
  return {
    ...found,
    diff: { ...found.diff, picture: { ...withoutBytes(found.diff.picture), picture: null } },
  };
}
