import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId, ScheduleId } from '../../core/model/ids.ts';
import type { JobOptions } from '../../core/model/job.ts';
import type { ScheduledJob } from '../../core/ports/schedule-store.ts';
import { SECRET_KINDS, type SecretRecord, type SecretStore } from '../../core/ports/session-store.ts';
import { resealOptions, resealScheduledJob } from './job-secrets.ts';
import { packData, unpackData } from './session-data.ts';
import { isSealed, type Vault } from './vault.ts';

export interface RotationReport {
  /** Records that are under the vault's present key now and were not before. */
  readonly changed: number;
  /** Records that no key of the vault opens, at most `MOST_NAMED` of them by kind and name. */
  readonly locked: number;
  readonly lockedNames: readonly string[];
}

const BATCH = 200;
const MOST_NAMED = 20;
/** A record that a server rewrites at the same moment is looked at again in the next pass. */
const MOST_PASSES = 10;

/**
 * Brings every record under the key that the vault seals with: those of older keys are re-wrapped, and those that were
 * stored in the open are sealed. It may end anywhere, by a kill too, and be started again: records that are done are
 * passed over, and until it has ended both keys are needed.
 */
export async function rotateVault(store: SecretStore, vault: Vault): Promise<RotationReport> {
  let changed = 0;
  for (let pass = 1; ; pass += 1) {
    const found = await passOver(store, vault);
    changed += found.changed;
    if (found.missed === 0 || pass === MOST_PASSES) {
      const { locked } = found;
      return { changed, locked: locked.length, lockedNames: locked.slice(0, MOST_NAMED) };
    }
  }
}

async function passOver(store: SecretStore, vault: Vault) {
  let [changed, missed] = [0, 0];
  const locked: string[] = [];
  for (const kind of SECRET_KINDS) {
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await store.listSecrets({ kind, cursor, limit: BATCH });
      for (const record of items) {
        const data = resealed(record, vault);
        if (data === 'locked') locked.push(`${kind} ${record.name}`);
        else if (data !== null) {
          if (await store.replaceSecret(record, data)) changed += 1;
          else missed += 1;
        }
      }
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
  return { changed, missed, locked };
}

/** The record under the present key; null when it is already, or holds nothing secret. */
function resealed(record: SecretRecord, vault: Vault): Uint8Array | 'locked' | null {
  const { kind, accountId, name, data } = record;
  try {
    if (kind === 'job') {
      const options = JSON.parse(Buffer.from(data).toString('utf8')) as JobOptions;
      const changed = resealOptions(options, vault, { id: name as JobId, accountId });
      return changed === null ? null : Buffer.from(JSON.stringify(changed));
    }
    if (kind === 'schedule') {
      const job = JSON.parse(Buffer.from(data).toString('utf8')) as ScheduledJob;
      const changed = resealScheduledJob(job, vault, { id: name as ScheduleId, accountId });
      return changed === null ? null : Buffer.from(JSON.stringify(changed));
    }
    const place = { kind, accountId, name };
    if (kind === 'session' && !isSealed(data)) return packData(unpackData(data, null, place), vault, place);
    if (kind === 'webhook' && !isSealed(data)) return vault.seal(data, place);
    return vault.rewrap(data, place);
  } catch (error) {
    if (isScrapifieError(error)) return 'locked';
    throw error;
  }
}
