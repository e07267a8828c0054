import type { HostId, HostKey, Incarnation, JobSeq } from '../../core/model/ids.ts';
import { NO_TURNS } from '../../core/model/turns.ts';
import type { HostStore } from '../../core/ports/host-store.ts';
import type { OptOut } from '../../core/ports/site-owner-store.ts';
import { hostKeyFromRow, hostStateOf, IDLE_RANK } from '../store-rows/rows.ts';
import type { HostRecordStore } from '../store-sql/hosts.ts';
import { claimTasks } from './claims.ts';
import type { SqliteDatabase } from './database.ts';
import { bestReadyRank } from './due-tasks.ts';
import { createTally, type JobTally, settleJob } from './job-life.ts';
import { holds } from './ledger.ts';
import { returnClaims } from './mailboxes.ts';
import type { Synchronous } from './sql-methods.ts';

type HostLeases = Pick<
  HostStore,
  'offerHosts' | 'acquireHost' | 'renewHosts' | 'releaseHost' | 'saveHosts' | 'releaseAllHosts'
>;

export function createSqliteHostStore(
  database: SqliteDatabase,
  incarnation: Incarnation,
  now: () => number,
): Synchronous<Omit<HostStore, keyof HostRecordStore>> {
  return {
    ...createHostLeases(database, incarnation, now),

    claimTasks(lease, limit, exceptJobs, turns) {
      if (!holds(database, incarnation, lease)) return [];
      promote(database, lease.hostId, now());
      return claimTasks(database, lease, limit, exceptJobs, turns ?? NO_TURNS, now());
    },

    startTask(lease, task, isAlone) {
      if (!holds(database, incarnation, lease)) return false;
      const started = database.run(
        `UPDATE tasks SET started_under = ?, started_alone = ?
         WHERE id = ? AND host_id = ? AND epoch = ? AND state = 'claimed'`,
        claimName(lease.hostId, lease.epoch),
        isAlone ? 1 : 0,
        task,
        lease.hostId,
        lease.epoch,
      );
      return started > 0;
    },

    addOptOut: (optOut) => addOptOut(database, optOut),
  };
}

/** Who owns which host until when. */
function createHostLeases(
  database: SqliteDatabase,
  incarnation: Incarnation,
  now: () => number,
): Synchronous<HostLeases> {
  return {
    offerHosts(limit) {
      return database
        .all(
          `SELECT key, rank FROM hosts WHERE next_at IS NOT NULL AND next_at <= ? ORDER BY rank, id LIMIT ?`,
          now(),
          limit,
        )
        .map((row) => ({ key: hostKeyFromRow(row.key), rank: Number(row.rank) }));
    },

    acquireHost(key, owner, leaseMs, former) {
      if (former?.incarnation === incarnation) return null;
      const row = database.get('SELECT * FROM hosts WHERE key = ?', key);
      if (row === undefined) return null;
      const host = Number(row.id) as HostId;
      const isTakenOver = row.owner !== null;
      // The owner that had the host in the former incarnation need not wait for the end of its own lease.
      const isOver = former !== undefined && row.leased_in !== incarnation;
      if (Number(isTakenOver ? (isOver ? 0 : row.lease_until) : row.blocked_until) > now()) return null;
      if (isTakenOver && former === undefined && row.owner !== owner) {
        countInterruptions(database, host, Number(row.epoch));
      }
      if (isTakenOver) settleReturned(database, host, now());
      promote(database, host, now());
      const best = bestReadyRank(database, host);
      if (best === null) {
        const due = nextDue(database, host);
        // An expired lease ends here for good: the process that wakes the host may use a time from before its end.
        database.run(
          'UPDATE hosts SET lease_until = 0, next_at = ?, rank = ? WHERE id = ?',
          due,
          due ?? IDLE_RANK,
          host,
        );
        return null;
      }
      const epoch = Number(row.epoch) + 1;
      database.run(
        'UPDATE hosts SET owner = ?, epoch = ?, leased_in = ?, lease_until = ?, next_at = ?, rank = ? WHERE id = ?',
        owner,
        epoch,
        incarnation,
        now() + leaseMs,
        now() + leaseMs,
        best,
        host,
      );
      return {
        hostId: host,
        epoch,
        incarnation,
        key,
        state: hostStateOf(row.state),
        isTakenOver: isTakenOver || former !== undefined,
      };
    },

    renewHosts(leases, leaseMs) {
      return leases
        .filter(
          ({ hostId, epoch, ...lease }) =>
            lease.incarnation !== incarnation ||
            database.run(
              'UPDATE hosts SET lease_until = ?, next_at = ? WHERE id = ? AND epoch = ? AND owner IS NOT NULL',
              now() + leaseMs,
              now() + leaseMs,
              hostId,
              epoch,
            ) === 0,
        )
        .map(({ hostId }) => hostId);
    },

    releaseHost(lease, state, notBefore) {
      if (!holds(database, incarnation, lease)) return;
      settleReturned(database, lease.hostId, now());
      promote(database, lease.hostId, now());
      const best = bestReadyRank(database, lease.hostId);
      const due = best === null ? nextDue(database, lease.hostId) : now();
      // Tasks that were held back for their account are offered later, unless others come.
      database.run(
        `UPDATE hosts SET owner = NULL, state = ?, blocked_until = ?, next_at = max(?, iif(?, coalesce(held_until, 0), 0)),
           rank = ? WHERE id = ?`,
        JSON.stringify(state),
        notBefore,
        due === null ? null : Math.max(due, notBefore),
        best === null ? 0 : 1,
        best ?? due ?? IDLE_RANK,
        lease.hostId,
      );
    },

    saveHosts(hosts) {
      for (const { lease, state } of hosts) {
        if (!holds(database, incarnation, lease)) continue;
        database.run('UPDATE hosts SET state = ? WHERE id = ?', JSON.stringify(state), lease.hostId);
      }
    },

    releaseAllHosts() {
      database.run(
        `UPDATE hosts SET next_at = max(?, blocked_until) WHERE owner IS NULL AND next_at > max(?, blocked_until)
           AND EXISTS (SELECT 1 FROM tasks WHERE host_id = hosts.id AND state = 'ready')`,
        now(),
        now(),
      );
      return database.run(
        'UPDATE hosts SET lease_until = ?, next_at = ? WHERE owner IS NOT NULL',
        now() - 1,
        now(),
      );
    },
  };
}

const claimName = (host: HostId, epoch: number): string => `${host}:${epoch}`;

/** A host's opt-out covers its ports and its subdomains. */
function covers(host: string, key: HostKey): boolean {
  const hostname = key.startsWith('[') ? key.slice(0, key.indexOf(']') + 1) : (key.split(':')[0] ?? key);
  return key === host || hostname === host || hostname.endsWith(`.${host}`);
}

/** Tasks whose retry is due join the others. */
function promote(database: SqliteDatabase, host: HostId, now: number): void {
  database.run(
    `UPDATE tasks SET state = 'ready', ready_at = NULL WHERE host_id = ? AND state = 'waiting' AND ready_at <= ?`,
    host,
    now,
  );
}

/** When a host without an owner has work again: at its next retry, or never. */
function nextDue(database: SqliteDatabase, host: HostId): number | null {
  const row = database.get(
    `SELECT min(ready_at) AS at FROM tasks WHERE host_id = ? AND state = 'waiting'`,
    host,
  );
  return (row?.at ?? null) as number | null;
}

function settleReturned(database: SqliteDatabase, host: HostId, now: number): void {
  settleJob(database, returnClaims(database, host, now), now);
}

/** The owner died: see `HostStore.acquireHost`. */
function countInterruptions(database: SqliteDatabase, host: HostId, epoch: number): void {
  database.run(
    `UPDATE tasks SET interruptions = interruptions + 1,
       lone_interruptions = lone_interruptions + (started_alone AND started_under IS ?2)
     WHERE host_id = ?1 AND state = 'claimed' AND (interruptions = 0 OR started_under = ?2)`,
    host,
    claimName(host, epoch),
  );
}

function addOptOut(database: SqliteDatabase, optOut: OptOut): void {
  database.run(
    'INSERT OR REPLACE INTO opt_outs (host, reason, contact, at, min_delay_ms) VALUES (?, ?, ?, ?, ?)',
    optOut.host,
    optOut.reason,
    optOut.contact,
    optOut.at,
    optOut.minDelayMs,
  );
  if (optOut.minDelayMs !== null) return;
  const tally = createTally();
  for (const { id, key } of database.all('SELECT id, key FROM hosts')) {
    if (covers(optOut.host, hostKeyFromRow(key))) denyTasks(database, Number(id), optOut.at, tally);
  }
  settleJob(database, tally, optOut.at);
}

/** Takes the open tasks of a host out of their jobs. */
function denyTasks(database: SqliteDatabase, host: number, at: number, tally: JobTally): void {
  for (const task of database.all(
    `UPDATE tasks SET state = 'denied', rule = 'opt-out', finished_at = ?
     WHERE host_id = ? AND state = 'claimed' RETURNING job_seq, kind`,
    at,
    host,
  )) {
    const delta = tally.of(Number(task.job_seq) as JobSeq);
    delta.open -= 1;
    delta.claimed -= 1;
    if (task.kind === 'page') delta.claimedPages -= 1;
    delta.denied += 1;
  }
  for (const task of database.all(
    `UPDATE tasks SET state = 'denied', rule = 'opt-out', finished_at = ?
     WHERE host_id = ? AND state IN ('ready', 'waiting') RETURNING job_seq`,
    at,
    host,
  )) {
    const delta = tally.of(Number(task.job_seq) as JobSeq);
    delta.open -= 1;
    delta.denied += 1;
  }
}
