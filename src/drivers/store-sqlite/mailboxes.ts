import type { HostId, HostKey, JobSeq, TaskId } from '../../core/model/ids.ts';
import type { JobKind } from '../../core/model/job-kinds.ts';
import { PROVISIONAL_REASONS } from '../../core/model/reasons.ts';
import type { NewTask } from '../../core/model/task.ts';
import type { StopReason } from '../../core/model/task-reasons.ts';
import { rankOf } from '../../core/model/turns.ts';
import type { HostOffer } from '../../core/ports/host-store.ts';
import { hostKeyFromRow, IDLE_RANK } from '../store-rows/rows.ts';
import type { SqliteDatabase } from './database.ts';
import { createTally, type JobTally } from './job-life.ts';

export interface JobRef {
  readonly seq: JobSeq;
  readonly accountId: string;
  readonly kind: JobKind;
  /** Tasks the job is known to have: bigger jobs wait longer. */
  readonly size: number;
  /** What becomes of ready tasks: a cancelled or stopped job takes none. */
  readonly intake: 'open' | 'cancelled' | { readonly stopReason: StopReason };
}

/** The hosts' mailboxes: finds or makes hosts, puts tasks into them, and remembers whom to wake. */
export interface Mailboxes {
  hostIdOf(key: HostKey): HostId;
  /** Adds tasks the job does not know yet. */
  add(job: JobRef, tasks: readonly NewTask[], tally: JobTally, now: number): void;
  /** Says that ready tasks of this rank were put there by other means. */
  wake(host: HostId, rank: number): void;
  /** Writes the wake-ups; returns the hosts that have no living owner to notice by itself, and those that do. */
  flush(now: number): HostOffer[];
}

const MOST_CACHED_HOSTS = 50_000;
const OVERTURNED_RULES = JSON.stringify([...PROVISIONAL_REASONS]);

/**
 * `ids` outlives the transaction: committed host rows are never deleted, so their ids stay right. The ids of rows that
 * are not committed are in it too: the owner of the map empties it when a savepoint or a transaction is rolled back.
 */
export function createMailboxes(database: SqliteDatabase, ids: Map<HostKey, HostId>): Mailboxes {
  const woken = new Map<HostId, number>();

  function hostIdOf(key: HostKey): HostId {
    const known = ids.get(key);
    if (known !== undefined) return known;
    database.run('INSERT OR IGNORE INTO hosts (key, rank) VALUES (?, ?)', key, IDLE_RANK);
    const id = Number(database.get('SELECT id FROM hosts WHERE key = ?', key)?.id) as HostId;
    if (ids.size >= MOST_CACHED_HOSTS) ids.clear();
    ids.set(key, id);
    return id;
  }

  function wake(host: HostId, rank: number): void {
    const earlier = woken.get(host);
    if (earlier === undefined || rank < earlier) woken.set(host, rank);
  }

  /** A ready task for a URL that a provisional rule had kept out. */
  function overturn(job: JobSeq, task: NewTask, rank: number): boolean {
    const changed = database.run(
      `UPDATE tasks SET state = 'ready', rule = NULL, finished_at = NULL, rank = ?, depth = ?, found_by = ?, found_on = ?
       WHERE job_seq = ? AND url_key = ? AND state = 'skipped' AND rule IN (SELECT value FROM json_each(?))`,
      rank,
      task.depth,
      task.foundBy,
      task.foundOn,
      job,
      task.urlKey,
      OVERTURNED_RULES,
    );
    return changed > 0;
  }

  function add(job: JobRef, tasks: readonly NewTask[], tally: JobTally, now: number): void {
    const delta = tally.of(job.seq);
    const rank = rankOf(job, now);
    for (const task of tasks) {
      let state: string = task.state;
      let rule = task.rule;
      if (state === 'ready' && job.intake !== 'open') {
        state = job.intake === 'cancelled' ? 'cancelled' : 'skipped';
        rule = job.intake === 'cancelled' ? null : job.intake.stopReason;
      }
      const host = hostIdOf(task.hostKey);
      const isNew = database.run(
        `INSERT OR IGNORE INTO tasks
           (job_seq, host_id, kind, state, rank, depth, found_by, found_on, url_key, url, rule, created_at, finished_at,
            account_id)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
        job.seq,
        host,
        task.kind,
        state,
        rank,
        task.depth,
        task.foundBy,
        task.foundOn,
        task.urlKey,
        task.url,
        rule,
        now,
        state === 'ready' ? null : now,
        job.accountId,
      );
      if (isNew === 0) {
        if (state === 'ready' && overturn(job.seq, task, rank)) {
          delta.skipped -= 1;
          delta.open += 1;
          wake(host, rank);
        }
        continue;
      }
      delta.known += 1;
      if (state === 'ready') {
        delta.open += 1;
        wake(host, rank);
      } else if (state === 'skipped') delta.skipped += 1;
      else if (state === 'denied') delta.denied += 1;
      else delta.cancelled += 1;
    }
  }

  function flush(now: number): HostOffer[] {
    const offers: HostOffer[] = [];
    for (const [host, rank] of woken) {
      const row = database.get(
        `UPDATE hosts SET rank = min(rank, ?),
           next_at = CASE WHEN owner IS NULL OR lease_until <= ? THEN min(coalesce(next_at, ?), max(?, blocked_until)) ELSE next_at END
         WHERE id = ? RETURNING key`,
        rank,
        now,
        IDLE_RANK,
        now,
        host,
      );
      if (row !== undefined) offers.push({ key: hostKeyFromRow(row.key), rank });
    }
    woken.clear();
    return offers;
  }

  return { hostIdOf, add, wake, flush };
}

/** Gives claimed tasks of a host back: ready again, or cancelled where their job was. */
export function returnClaims(database: SqliteDatabase, host: HostId, now: number): JobTally {
  const tally = createTally();
  const claimed = database.all(
    `SELECT t.id, t.job_seq, t.kind, j.status, j.stop_reason FROM tasks t JOIN jobs j ON j.seq = t.job_seq
     WHERE t.host_id = ? AND t.state = 'claimed'`,
    host,
  );
  for (const row of claimed) {
    const delta = tally.of(Number(row.job_seq) as JobSeq);
    delta.claimed -= 1;
    if (row.kind === 'page') delta.claimedPages -= 1;
    reopen(
      database,
      Number(row.id) as TaskId,
      row.status === 'cancelled',
      row.stop_reason as string | null,
      delta,
      now,
    );
  }
  return tally;
}

/** Where a claimed task goes that has not ended: back into the mailbox, unless its job takes no more work. */
export function reopen(
  database: SqliteDatabase,
  task: TaskId,
  isCancelled: boolean,
  stopReason: string | null,
  delta: { open: number; cancelled: number; skipped: number },
  now: number,
): boolean {
  if (!isCancelled && stopReason === null) {
    database.run(`UPDATE tasks SET state = 'ready' WHERE id = ?`, task);
    return true;
  }
  delta.open -= 1;
  if (isCancelled) {
    delta.cancelled += 1;
    database.run(`UPDATE tasks SET state = 'cancelled', finished_at = ? WHERE id = ?`, now, task);
  } else {
    delta.skipped += 1;
    database.run(
      `UPDATE tasks SET state = 'skipped', rule = ?, finished_at = ? WHERE id = ?`,
      stopReason,
      now,
      task,
    );
  }
  return false;
}
