import type { Export } from '../../core/model/export.ts';
import { exportFormatSpec } from '../../core/model/export-registry.ts';
import type { AccountId, ExportId, JobId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { ExportStore } from '../../core/ports/export-store.ts';
import type { Files } from '../../core/ports/files.ts';

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
