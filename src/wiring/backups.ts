import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { type Content, contentOfStore, isSame, loadContent } from '../capabilities/backup/backup-content.ts';
import { contentOfBackup, verifyBackup, writeBackup } from '../capabilities/backup/backup-file.ts';
import type { BackupBegin, Figures } from '../capabilities/backup/backup-parts.ts';
import type {
  BackupOptions,
  BackupRef,
  BackupReport,
  BackupTools,
  Installation,
  VaultReport,
} from '../capabilities/backup/installation.ts';
import { createVault } from '../capabilities/sessions/vault.ts';
import { keyFileOf, readVaultKeys, replaceKeyFile, type VaultSettings } from '../core/config/vault-keys.ts';
import type { ErrorCode } from '../core/errors/registry.ts';
import { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../core/model/audit-actions.ts';
import type { Store } from '../core/ports/store.ts';
import { bringUpToDate } from '../drivers/store-postgres/postgres-draft.ts';
import { lockFolder } from '../drivers/store-sqlite/folder-lock.ts';
import { VERSION } from '../version.ts';
import { type CopyTarget, openSnapshot, openTarget } from './copy-places.ts';
import { openBlobs, openFiles } from './open-blobs.ts';
import { openStorage, openStore } from './storage.ts';

const SWEEP = 'blob-sweep';
const ACTOR = 'backup';
const LEASE_MS = 60_000;
const RENEW_MS = 10_000;
/** A sweep of stored bodies that is under way gets this long to end. */
const SWEEP_WAIT_MS = 600_000;
const nothing = () => undefined;
/** Another attempt at the same place would fail alike. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set(['PLACE_NOT_EMPTY', 'SCHEMA_TOO_NEW', 'BACKUP_DAMAGED']);

export const BACKUP_TOOLS: BackupTools = { makeBackup, checkBackup, restoreBackup, moveInstallation };

async function makeBackup(from: Installation, to: BackupRef, options: BackupOptions): Promise<BackupReport> {
  const files = await openFiles(to.place);
  try {
    const storage = await openStorage(from);
    try {
      const keep = await keepBodies(storage.store, options.signal);
      try {
        const snapshot = await openSnapshot(from, false);
        try {
          const begin = headOf(from, options.hasVaultKey);
          let end: Figures | null = null;
          const source = { snapshot, blobs: storage.blobs, keepBodies: keep.renew };
          const onEnd = (written: typeof end) => {
            end = written;
          };
          await files.write(to.name, writeBackup(source, begin, onEnd));
          if (options.isVerified) await verifyBackup(() => files.read(to.name));
          if (end === null) throw new Error('The backup has no end.');
          await storage.store.audit([
            auditEntry('backup.create', begin.id, { hasVaultKey: options.hasVaultKey }),
          ]);
          return reportOf(begin, end, { isKnown: true, writtenTo: null });
        } finally {
          await snapshot.close();
        }
      } finally {
        await keep.end();
      }
    } finally {
      await storage.close();
    }
  } finally {
    await files.close();
  }
}

/**
 * Keeps the sweep of stored bodies from running: it would remove the bodies of pages that are deleted after the snapshot
 * and before they are read.
 */
async function keepBodies(
  store: Pick<Store, 'leaseWork' | 'endWork'>,
  signal: AbortSignal | undefined,
): Promise<{ renew: () => Promise<void>; end: () => Promise<void> }> {
  const owner = randomUUID();
  const startedAt = performance.now();
  while (!(await store.leaseWork(SWEEP, owner, LEASE_MS))) {
    if (performance.now() - startedAt > SWEEP_WAIT_MS) {
      throw new ScrapifieError(
        'CONFLICT',
        'Another backup, or a removal of unreferenced bodies, is under way.',
      );
    }
    await delay(1_000, undefined, signal === undefined ? {} : { signal });
  }
  let renewedAt = performance.now();
  return {
    async renew() {
      signal?.throwIfAborted();
      if (performance.now() - renewedAt < RENEW_MS) return;
      renewedAt = performance.now();
      if (await store.leaseWork(SWEEP, owner, LEASE_MS)) return;
      throw new ScrapifieError(
        'CANCELLED',
        'This process was paused for too long: bodies may have been removed.',
      );
    },
    end: () => store.endWork(SWEEP, owner).catch(nothing),
  };
}

function headOf(from: Installation, hasVaultKey: boolean): Omit<BackupBegin, 'kind' | 'schema' | 'tables'> {
  const { vaultKey, vaultOldKeys } = readVaultKeys(from);
  const keys = [vaultKey, ...vaultOldKeys.split(',')].flatMap((key) => (key?.trim() ? [key.trim()] : []));
  if (hasVaultKey && keys.length === 0) {
    throw new ScrapifieError('INVALID_USAGE', 'There is no vault key that could be part of the backup.');
  }
  return {
    id: randomUUID(),
    createdAt: Date.now(),
    program: VERSION,
    profile: from.databaseUrl === undefined ? 'sqlite' : 'postgres',
    vault: { keyId: createVault(vaultKey)?.keyId ?? null, keys: hasVaultKey ? keys : null },
  };
}

async function checkBackup(backup: BackupRef): Promise<BackupReport> {
  const files = await openFiles(backup.place);
  try {
    const { begin, end } = await verifyBackup(() => files.read(backup.name));
    return reportOf(begin, end, { isKnown: begin.vault.keyId === null, writtenTo: null });
  } finally {
    await files.close();
  }
}

async function restoreBackup(backup: BackupRef, to: Installation): Promise<BackupReport> {
  const files = await openFiles(backup.place);
  try {
    const open = () => files.read(backup.name);
    const verified = await verifyBackup(open);
    return await fill(await openTarget(to), async (target) => {
      const end = await load(contentOfBackup(open, verified), target, to);
      const writtenTo = verified.begin.vault.keys === null ? null : writeKeys(to, verified.begin.vault.keys);
      await target.finish();
      await note(to, 'backup.restore', verified.begin.id);
      return reportOf(verified.begin, end, { isKnown: hasKey(to, verified.begin.vault.keyId), writtenTo });
    });
  } finally {
    await files.close();
  }
}

async function moveInstallation(from: Installation, to: Installation): Promise<BackupReport> {
  const unlock = from.databaseUrl === undefined ? lockFolder(from.dataDir) : nothing;
  try {
    if (from.databaseUrl !== undefined) await bringUpToDate(from.databaseUrl);
    else await openStore(from, nothing, Date.now).then((store) => store.close());
    const snapshot = await openSnapshot(from, true);
    try {
      const blobs = await openBlobs(from, { isFirst: false, onAway: nothing, onReturn: nothing });
      try {
        const begin = { ...headOf(from, false), kind: 'begin' as const };
        const content = await contentOfStore(snapshot, blobs, begin);
        return await fill(await openTarget(to), async (target) => {
          const end = await load(content, target, to);
          const { vaultKey, vaultOldKeys } = readVaultKeys(from);
          const keys = [vaultKey, ...vaultOldKeys.split(',')].flatMap((key) =>
            key?.trim() ? [key.trim()] : [],
          );
          const writtenTo = writeKeys(to, keys);
          await target.finish();
          await note(to, 'installation.move', begin.id);
          return reportOf(begin, end, { isKnown: hasKey(to, begin.vault.keyId), writtenTo });
        }).finally(() => content.close());
      } finally {
        await blobs.close();
      }
    } finally {
      await snapshot.close();
    }
  } finally {
    unlock();
  }
}

/** A place that is refused gets nothing; what any other error leaves is for the next attempt, which goes on with it. */
async function fill(
  target: CopyTarget,
  work: (target: CopyTarget) => Promise<BackupReport>,
): Promise<BackupReport> {
  try {
    return await work(target);
  } catch (error) {
    if (isScrapifieError(error) && REFUSALS.has(error.code)) await target.abandon();
    throw error;
  } finally {
    await target.close();
  }
}

/** Where the last attempt was killed between its last two steps, everything is there already. */
async function load(content: Content, target: CopyTarget, to: Installation): Promise<Figures> {
  try {
    return await loadContent(content, target);
  } catch (error) {
    if (!target.isResumed || !isScrapifieError(error) || error.code !== 'PLACE_NOT_EMPTY') throw error;
    const snapshot = await openSnapshot(to, false);
    try {
      if (await isSame(content, snapshot)) return await content.end();
    } finally {
      await snapshot.close();
    }
    throw error;
  }
}

const auditEntry = (action: AuditAction, target: string, details: Record<string, unknown> = {}) => ({
  at: Date.now(),
  actor: ACTOR,
  action,
  target,
  details,
});

/** An entry in the audit log of a place that was filled. */
async function note(place: Installation, action: AuditAction, target: string): Promise<void> {
  const store = await openStore(place, nothing, Date.now);
  await store.audit([auditEntry(action, target)]).finally(() => store.close());
}

/** Writes the keys to the key file of the place, unless it has one; returns its path when they were written. */
function writeKeys(to: VaultSettings, keys: readonly string[]): string | null {
  const path = keyFileOf(to);
  if (path === null || keys.length === 0 || existsSync(path)) return null;
  replaceKeyFile(path, keys);
  return path;
}

function hasKey(place: VaultSettings, keyId: string | null): boolean {
  if (keyId === null) return true;
  const { vaultKey, vaultOldKeys } = readVaultKeys(place);
  return [vaultKey, ...vaultOldKeys.split(',')].some(
    (key) => key?.trim() && createVault(key.trim())?.keyId === keyId,
  );
}

function reportOf(
  { id, createdAt, profile, vault }: Omit<BackupBegin, 'kind' | 'schema' | 'tables'>,
  { tables, bodies }: Figures,
  key: Pick<VaultReport, 'isKnown' | 'writtenTo'>,
): BackupReport {
  const told = { keyId: vault.keyId, isIncluded: vault.keys !== null, ...key };
  return { id, createdAt, profile, tables, bodies, vault: told };
}
