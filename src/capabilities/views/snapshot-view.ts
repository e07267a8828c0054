import { z } from 'zod';
import type { Sighting, Snapshot } from '../../core/ports/snapshot-store.ts';
import { withoutBytes } from '../../extract/diff/compare-pages.ts';
import { isoTime } from '../../lib/iso-time.ts';
import { DIFF_MODES, type VersionDiff } from '../compare/page-comparer.ts';
import { knownSnapshot, type PageVersion } from '../compare/page-version.ts';
import { selfLinks, selfSchema } from './list.ts';

const text = z.string().nullable();
const time = z.string().describe('ISO 8601.');

export const snapshotSchema = z
  .object({
    id: z.string(),
    url: z.string().describe('Canonical.'),
    hash: z
      .string()
      .describe('Of the normalized content: the same for the same content, also at another URL.'),
    firstSeenAt: time,
    lastSeenAt: time,
    timesSeen: z.number().int().describe('Pages of jobs that had this content.'),
    finalUrl: z.string(),
    statusCode: z.number().int().nullable(),
    contentType: text,
    contentHash: z.string().describe('SHA-256 of the body as it was the first time.'),
    bytes: z.number().int(),
    etag: text.describe('As the server said the last time.'),
    lastModified: text,
    title: text,
    price: z.number().nullable().describe('As the page states it, or as `extract` found it.'),
    currency: text,
    availability: text,
    record: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe('What `extract` of the job found that saw it first.'),
    screenshot: z
      .object({ url: z.string(), contentType: z.string(), bytes: z.number().int() })
      .nullable()
      .describe('The picture that was taken the first time.'),
    jobId: z.string().describe('The job that saw it first; it may be deleted.'),
    links: selfSchema,
  })
  .meta({ id: 'Snapshot' });

export const sightingSchema = z
  .object({
    snapshotId: z.string(),
    url: z.string(),
    hash: z.string(),
    jobId: z.string(),
    seenAt: time,
    links: z.object({ snapshot: z.string() }),
  })
  .meta({ id: 'Sighting' });

export type SnapshotView = z.output<typeof snapshotSchema>;

export function snapshotView(snapshot: Snapshot): SnapshotView {
  const { id, screenshot } = snapshot;
  const { url, hash, timesSeen, finalUrl, statusCode, contentType, contentHash, bytes } = snapshot;
  const { etag, lastModified, title, price, currency, availability, record, jobId } = snapshot;
  const links = selfLinks('snapshots', id);
  return {
    ...{
      id,
      url,
      hash,
      firstSeenAt: isoTime(snapshot.firstSeenAt),
      lastSeenAt: isoTime(snapshot.lastSeenAt),
    },
    ...{ timesSeen, finalUrl, statusCode, contentType, contentHash, bytes, etag, lastModified, title },
    ...{ price, currency, availability, record },
    screenshot:
      screenshot === null
        ? null
        : {
            url: `${links.self}/screenshot`,
            contentType: screenshot.contentType,
            bytes: screenshot.bytes,
          },
    jobId,
    links,
  };
}

export type SightingView = z.output<typeof sightingSchema>;

export const sightingView = ({ snapshotId, url, hash, jobId, seenAt }: Sighting): SightingView => ({
  ...{ snapshotId, url, hash, jobId, seenAt: isoTime(seenAt) },
  links: { snapshot: selfLinks('snapshots', snapshotId).self },
});

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
  firstSeenAt: isoTime(firstSeenAt),
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
