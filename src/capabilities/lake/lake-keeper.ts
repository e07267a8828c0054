import type { AccountId } from '../../core/model/ids.ts';
import { LAKE_FILE_MS, LAKE_TABLES, type LakeSummary, type LakeView } from '../../core/ports/lake-store.ts';
import type { Consumer, Queue } from '../../core/ports/queue.ts';
import { type CompactionReport, compactLake } from './compact.ts';
import type { LakeParts } from './lake-files.ts';
import {
  accountOfManifest,
  LAKE_COLUMNS,
  LAKE_SCHEMA_VERSION,
  manifestPath,
  readLakePath,
} from './lake-layout.ts';

/** Keeps the lakes of all accounts in order, in one process at a time: manifests, compaction, files of no one. */
export interface LakeKeeper {
  start(): Promise<void>;
  stop(): Promise<void>;
  /** One round over all accounts. */
  run(): Promise<void>;
}

interface LakeKeeperDeps extends LakeParts {
  readonly queue: Pick<Queue, 'every'>;
}

const TICK_MS = 5_000;
const ACCOUNTS_AT_ONCE = 100;
/** The most steps for one account in one round, so that accounts do not wait for one with a large lake. */
const STEPS_AT_ONCE = 20;
/** Deleting a job changes no file, so lakes that have not changed are looked at as well. */
const LOOK_AGAIN_MS = 60_000;
const ORPHANS_EVERY_MS = 3_600_000;
/** Accounts that are remembered; one that is forgotten is looked at once more. */
const MOST_REMEMBERED = 10_000;

/** More files than this are listed in no manifest: their lake wants compaction. */
const MOST_FILES = 100_000;

/** Queries that began before a file was replaced go on reading it for this long. */
const REMOVED_MS = 900_000;
const FILES_AT_ONCE = 500;
/** Twice the time in which a file may become part of the lake: the clocks of two processes may differ. */
const ORPHAN_MS = 2 * LAKE_FILE_MS;

export function createLakeKeeper(deps: LakeKeeperDeps): LakeKeeper {
  const { store, queue, now, logger } = deps;
  const stopping = new AbortController();
  const looked = new Map<AccountId, { readonly version: number; readonly at: number }>();
  let orphansAt = Number.NEGATIVE_INFINITY;
  let timer: Consumer | null = null;

  async function look(accountId: AccountId, version: number): Promise<CompactionReport | null> {
    const last = looked.get(accountId);
    if (last !== undefined && last.version === version && now() - last.at < LOOK_AGAIN_MS) return null;
    if (looked.size >= MOST_REMEMBERED) looked.clear();
    looked.set(accountId, { version, at: now() });
    return compactLake(accountId, deps, { mostSteps: STEPS_AT_ONCE, signal: stopping.signal });
  }

  async function run(): Promise<void> {
    let after: AccountId | null = null;
    for (;;) {
      const lakes = await store.listLakes({ after, limit: ACCOUNTS_AT_ONCE });
      for (const lake of lakes) {
        if (stopping.signal.aborted) return;
        after = lake.accountId;
        try {
          const done = await look(lake.accountId, lake.version);
          if (done !== null && done.replacedFiles > 0)
            logger.debug({ accountId: lake.accountId, ...done }, 'lake: compacted');
          const isSame = done === null || done.replacedFiles === 0;
          const version = isSame ? lake.version : lake.version + 1;
          await writeManifest({ ...lake, version }, deps);
        } catch (error) {
          // One account must not keep the others from their turn.
          logger.warn({ err: error, accountId: lake.accountId }, 'lake: an account was not kept in order');
        }
      }
      if (lakes.length < ACCOUNTS_AT_ONCE) break;
    }
    await collectReplaced(deps);
    if (now() - orphansAt < ORPHANS_EVERY_MS) return;
    orphansAt = now();
    const orphans = await collectOrphans(deps);
    if (orphans > 0) logger.info({ files: orphans }, 'lake: files of no one were removed');
  }

  return {
    run,
    async start() {
      timer = await queue.every('lake', TICK_MS, run);
    },
    async stop() {
      stopping.abort();
      await timer?.stop();
    },
  };
}

/** The lake of one account, for programs that read it without Scrapifie; see docs/lake.md. */
function manifestOf(accountId: AccountId, view: LakeView, now: number): object {
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

type CollectorParts = Pick<LakeParts, 'store' | 'files' | 'now'>;

/** Deletes files that were replaced long enough ago. Returns how many. */
export async function collectReplaced(
  { store, files, now }: CollectorParts,
  { isForced = false } = {},
): Promise<number> {
  let collected = 0;
  for (;;) {
    const before = isForced ? Number.MAX_SAFE_INTEGER : now() - REMOVED_MS;
    const removed = await store.listRemovedLakeFiles(before, FILES_AT_ONCE);
    if (removed.length === 0) return collected;
    await files.remove(removed.map(({ path }) => path));
    await store.forgetLakeFiles(removed.map(({ id }) => id));
    collected += removed.length;
  }
}

interface FoundFile {
  readonly path: string;
  readonly accountId: AccountId;
  readonly id: string;
  readonly madeAt: number;
}

/**
 * Deletes files that never became part of the lake, because the process that wrote them died, and all files of accounts
 * that are gone. Files that the lake did not write are left alone. Returns how many.
 */
export async function collectOrphans({ store, files, now }: CollectorParts): Promise<number> {
  let collected = 0;
  let found: FoundFile[] = [];
  const accounts = new Map<AccountId, boolean>();

  async function exists(id: AccountId): Promise<boolean> {
    const isThere = accounts.get(id) ?? (await store.getAccount(id)) !== null;
    accounts.set(id, isThere);
    return isThere;
  }

  async function settle(): Promise<void> {
    const known = new Set(await store.knownLakeFiles(found.map(({ id }) => id)));
    const orphans: string[] = [];
    for (const { path, accountId, id, madeAt } of found) {
      if (known.has(id)) continue;
      if (madeAt < now() - ORPHAN_MS || !(await exists(accountId))) orphans.push(path);
    }
    if (orphans.length > 0) await files.remove(orphans);
    collected += orphans.length;
    found = [];
  }

  for await (const { path } of files.list('')) {
    const file = readLakePath(path);
    const ofManifest = accountOfManifest(path);
    if (file !== null) found.push({ path, ...file });
    else if (ofManifest !== null && !(await exists(ofManifest))) await files.remove([path]);
    if (found.length >= FILES_AT_ONCE) await settle();
  }
  await settle();
  return collected;
}
