import type { AccountId } from '../../core/model/ids.ts';
import { LAKE_TABLES, type LakeSummary, type LakeView } from '../../core/ports/lake-store.ts';
import type { LakeParts } from './lake-parts.ts';
import { LAKE_COLUMNS, LAKE_SCHEMA_VERSION } from './lake-schema.ts';
import { manifestPath } from './partition.ts';

/** More files than this are listed in no manifest: their lake wants compaction. */
const MOST_FILES = 100_000;

/** The lake of one account, for programs that read it without Scrapifie; see docs/lake.md. */
export function manifestOf(accountId: AccountId, view: LakeView, now: number): object {
  const { version, files, rules } = view;
  return {
    format: 'scrapifie-lake',
    version,
    schemaVersion: LAKE_SCHEMA_VERSION,
    accountId,
    writtenAt: new Date(now).toISOString(),
    tables: Object.fromEntries(
      LAKE_TABLES.map((table) => {
        const own = files.filter((file) => file.table === table);
        return [
          table,
          {
            columns: LAKE_COLUMNS[table].map(({ name, type, since }) => ({ name, type, since })),
            partitions: ['domain', 'date'],
            rows: own.reduce((sum, { rows }) => sum + rows, 0),
            files: own.map(({ path, domain, date, rows, bytes, schemaVersion }) => ({
              // Paths begin at the folder of the manifest.
              ...{ path: path.slice(accountId.length + 1), domain, date, rows, bytes, schemaVersion },
            })),
          },
        ];
      }),
    ),
    hidden: rules.map(({ jobId, keepFrom, isResumed }) => ({
      jobId,
      ...(keepFrom === null ? { all: true } : { pagesBefore: keepFrom }),
      ...(isResumed ? { latestPageOfTaskOnly: true } : {}),
    })),
  };
}

/** Writes the manifest of a lake that has changed since the last one. */
export async function writeManifest(summary: LakeSummary, parts: LakeParts): Promise<boolean> {
  const { accountId, version, manifestVersion } = summary;
  if (version === manifestVersion) return false;
  const view = await parts.store.viewLake({ accountId, mostFiles: MOST_FILES });
  const text = JSON.stringify(manifestOf(accountId, view, parts.now()));
  await parts.files.write(manifestPath(accountId), Buffer.from(text));
  await parts.store.noteManifest(accountId, view.version);
  return true;
}
