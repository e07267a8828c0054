import type { AccountId } from '../../core/model/ids.ts';
import { LAKE_FILE_MS } from '../../core/ports/lake-store.ts';
import type { LakeParts } from './lake-parts.ts';
import { accountOfManifest, readLakePath } from './partition.ts';

type CollectorParts = Pick<LakeParts, 'store' | 'files' | 'now'>;

/** Queries that began before a file was replaced go on reading it for this long. */
const REMOVED_MS = 900_000;
const AT_ONCE = 500;
/** Twice the time in which a file may become part of the lake: the clocks of two processes may differ. */
const ORPHAN_MS = 2 * LAKE_FILE_MS;

/** Deletes files that were replaced long enough ago. Returns how many. */
export async function collectReplaced(
  { store, files, now }: CollectorParts,
  { isForced = false } = {},
): Promise<number> {
  let collected = 0;
  for (;;) {
    const before = isForced ? Number.MAX_SAFE_INTEGER : now() - REMOVED_MS;
    const removed = await store.listRemovedLakeFiles(before, AT_ONCE);
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
    if (found.length >= AT_ONCE) await settle();
  }
  await settle();
  return collected;
}
