import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { resolve, sep } from 'node:path';
import type { Export, ExportTarget } from '../../core/model/export.ts';
import { exportFormatSpec } from '../../core/model/export-registry.ts';
import type { AccountId, ExportId, JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Files } from '../../core/ports/blobs.ts';
import type { ExportStore } from '../../core/ports/export-store.ts';
import { type FilePlace, filePlaceOf } from '../backup/installation.ts';

/** The name of the file that the last attempt at the export writes. */
export const fileOf = ({ id, attempts, spec }: Pick<Export, 'id' | 'attempts' | 'spec'>): string =>
  `${id}.${attempts}${exportFormatSpec(spec.format).ending}`;

const MOST_SITE_CHARS = 80;

/** The host that a job begins on, as a part of a file name; the job's id where it has none. */
function siteOf({ id, seeds }: Pick<Job, 'id' | 'seeds'>): string {
  const host = URL.parse(seeds[0] ?? '')
    ?.host.replaceAll(/[^a-z0-9.-]+/gi, '-')
    .replaceAll(/^[.-]+|[.-]+$/g, '');
  return host ? host.slice(0, MOST_SITE_CHARS) : id;
}

/** The name under which the file is saved: it tells the site, what it holds and the day, and is no other export's. */
export function nameForPeople(
  { id, createdAt, spec }: Pick<Export, 'id' | 'createdAt' | 'spec'>,
  job: Pick<Job, 'id' | 'seeds'>,
): string {
  const day = new Date(createdAt).toISOString().slice(0, 10);
  return `${siteOf(job)}-${spec.type}-${day}-${id.slice(-12)}${exportFormatSpec(spec.format).ending}`;
}

const FILE = /^(exp_[0-9a-f-]{1,64})\.\d{1,9}\./;
const IDS_AT_ONCE = 500;

/**
 * Removes files whose export is not stored any more, because it, its job or its account was deleted. An export is stored
 * before its file is begun, so none that is being written is removed. Returns how many.
 */
export async function sweepExportFiles(
  store: Pick<ExportStore, 'knownExports'>,
  files: Files,
  signal?: AbortSignal,
): Promise<number> {
  const found = (await files.list()).flatMap(({ name }) => {
    const id = FILE.exec(name)?.[1] as ExportId | undefined;
    return id === undefined ? [] : [{ name, id }];
  });
  let removed = 0;
  for (let at = 0; at < found.length && signal?.aborted !== true; at += IDS_AT_ONCE) {
    const some = found.slice(at, at + IDS_AT_ONCE);
    const known = new Set(await store.knownExports([...new Set(some.map(({ id }) => id))]));
    for (const { name, id } of some) {
      if (known.has(id)) continue;
      await files.remove(name);
      removed += 1;
    }
  }
  await files.removeRemains();
  return removed;
}

/** All exports of a job; to be asked for before it is deleted, so that their files can be removed after it. */
export async function exportsOfJob(
  store: Pick<ExportStore, 'listExports'>,
  accountId: AccountId,
  jobId: JobId,
): Promise<Export[]> {
  const found: Export[] = [];
  let cursor: string | undefined;
  do {
    const { items, nextCursor } = await store.listExports({ accountId, jobId, cursor, limit: IDS_AT_ONCE });
    found.push(...items);
    cursor = nextCursor ?? undefined;
  } while (cursor !== undefined);
  return found;
}

/** Removes the files of all attempts at the export. */
export async function removeFiles(of: Export, files: Pick<Files, 'remove'>): Promise<void> {
  for (let attempts = 1; attempts <= of.attempts; attempts += 1)
    await files.remove(fileOf({ ...of, attempts }));
}

/** How long a link works. */
export const LINK_MS = 3_600_000;

export const newSecret = (): string => randomBytes(32).toString('base64url');

const signatureOf = ({ id, secret }: Pick<Export, 'id' | 'secret'>, expires: number): Buffer =>
  createHmac('sha256', secret).update(`${id}\n${expires}`).digest();

/**
 * The path of the file with a signature in place of an API key. It works for an hour, and ends with the export: each has a
 * secret of its own.
 */
export function signedPath(of: Pick<Export, 'id' | 'secret'>, now: number): string {
  const expires = Math.ceil((now + LINK_MS) / 1_000);
  const signature = signatureOf(of, expires).toString('base64url');
  return `/v1/exports/${of.id}/download?expires=${expires}&signature=${signature}`;
}

/** `wrong`: it was not made for this export. */
export function checkLink(
  of: Pick<Export, 'id' | 'secret'>,
  { expires, signature }: { readonly expires: number; readonly signature: string },
  now: number,
): 'valid' | 'expired' | 'wrong' {
  const given = Buffer.from(signature, 'base64url');
  const right = signatureOf(of, expires);
  if (given.length !== right.length || !timingSafeEqual(given, right)) return 'wrong';
  return expires * 1_000 < now ? 'expired' : 'valid';
}

/** Where exports may be copied to, as the operator says. */
export interface ExportPlaces {
  /** Folders and `s3://bucket/path`, with commas between them. */
  readonly exportPlaces: string;
  /** The object store of those in buckets. */
  readonly exportS3Url?: string | undefined;
  readonly s3Url?: string | undefined;
}

const listed = (places: string): string[] =>
  places
    .split(',')
    .map((place) => place.trim())
    .filter((place) => place !== '');

/** The place for a copy; null when the operator has not named it or a folder that it is in. */
export function targetPlace(target: ExportTarget, settings: ExportPlaces): FilePlace | null {
  const asked = 'folder' in target ? target.folder : target.s3;
  const isAllowed = listed(settings.exportPlaces).some((place) => isWithin(asked, place));
  return isAllowed ? filePlaceOf(asked, process.cwd(), settings.exportS3Url ?? settings.s3Url) : null;
}

function isWithin(asked: string, place: string): boolean {
  const isBucket = asked.startsWith('s3://');
  if (isBucket !== place.startsWith('s3://')) return false;
  if (!isBucket) {
    const [inner, outer] = [resolve(asked), resolve(place)];
    return inner === outer || inner.startsWith(outer.endsWith(sep) ? outer : `${outer}${sep}`);
  }
  if (asked.split('/').some((part) => part === '..' || part === '.')) return false;
  const [inner, outer] = [asked, place].map((url) => `${url.replace(/\/+$/, '')}/`) as [string, string];
  return inner.startsWith(outer);
}
