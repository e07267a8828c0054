import { setTimeout as pause } from 'node:timers/promises';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { within } from '../../lib/waits.ts';
import type { Row } from './rows.ts';

type Ask = (sql: string, values?: readonly unknown[]) => Promise<Row[]>;

/** A standby of the same PostgreSQL that may answer questions in place of the primary. */
export interface ReadReplica {
  /**
   * Asks the replica if it has everything that was committed before this call, else the primary. So an answer is never
   * older than the question. What goes wrong on the replica, but for a limit of the question's own, is asked of the primary.
   */
  read<T>(onReplica: () => Promise<T>, onPrimary: () => Promise<T>): Promise<T>;
}

export interface ReadReplicaOptions {
  readonly primary: Ask;
  readonly replica: Ask;
  /** How long the primary answers after the replica could not. */
  readonly restMs?: number;
  /** Told once when the replica is not used for a while, and once when it is used again. */
  readonly onChange?: ((isUsed: boolean, why: string) => void) | undefined;
}

/**
 * A replica that follows by streaming is a few milliseconds behind what is synced to disk; commits that need no sync are
 * written within three times `wal_writer_delay`, 600 ms.
 */
const MOST_BEHIND_MS = 1_000;
const LOOK_MS = 5;
/** For one look at how far the replica is: also for a new connection, which may take a second. */
const LOOK_LIMIT_MS = 2_000;
/** After a failure, or when it was too far behind, for this long no question pays for finding out again. */
const REST_MS = 10_000;
const IDENTIFIER = '(SELECT system_identifier::text FROM pg_control_system())';
const TOO_FAR = `it is more than ${MOST_BEHIND_MS} ms behind the primary`;
const SILENT = `it does not answer within ${LOOK_LIMIT_MS} ms`;

export function createReadReplica(options: ReadReplicaOptions): ReadReplica {
  const { primary, replica, restMs = REST_MS, onChange } = options;
  let restsUntil = Number.NEGATIVE_INFINITY;
  let isUsed = true;

  function change(to: boolean, why: string): void {
    if (!to) restsUntil = performance.now() + restMs;
    if (isUsed !== to) onChange?.(to, why);
    isUsed = to;
  }

  /** Null when the replica has what the primary had when it was asked, else why it cannot be used. */
  async function whyUnusable(): Promise<string | null> {
    const [mark] = await primary(`SELECT pg_current_wal_insert_lsn()::text AS lsn, ${IDENTIFIER} AS id`);
    const startedAt = performance.now();
    for (;;) {
      const looked = replica(
        `SELECT pg_is_in_recovery() AS is_standby, ${IDENTIFIER} = $2 AS is_same, pg_last_wal_replay_lsn() >= $1::pg_lsn AS is_current`,
        [mark?.lsn, mark?.id],
      );
      // A replica that hangs accepts the question and says nothing until the limit of a statement, many seconds
      // later.
      const [row] = await within(LOOK_LIMIT_MS, looked, () => new Error(SILENT));
      if (row?.is_same !== true) return 'it is another database cluster';
      if (row.is_standby !== true) return 'it is a primary itself';
      if (row.is_current === true) return null;
      if (performance.now() - startedAt > MOST_BEHIND_MS) return TOO_FAR;
      await pause(LOOK_MS);
    }
  }

  return {
    async read(onReplica, onPrimary) {
      if (performance.now() < restsUntil) return onPrimary();
      try {
        const why = await whyUnusable();
        if (why === null) {
          const answer = await onReplica();
          change(true, 'it answers');
          return answer;
        }
        change(false, why);
      } catch (error) {
        if (isScrapifieError(error) && error.code === 'QUERY_TIMEOUT') throw error;
        change(false, error instanceof Error ? error.message : String(error));
      }
      return onPrimary();
    },
  };
}
