import type { HostId, Incarnation, JobId, JobSeq } from '../../core/model/ids.ts';
import type { Task } from '../../core/model/task.ts';
import { NO_TURNS } from '../../core/model/turns.ts';
import type { HostStore } from '../../core/ports/host-store.ts';
import { hostKeyFromRow, hostStateOf, taskOf } from '../store-rows/rows.ts';
import type { HostRecordStore } from '../store-sql/hosts.ts';
import { WHOLE_JOB_LIMIT_MS } from '../store-sql/methods.ts';
import { NOW, type PostgresDatabase } from './database.ts';
import { jsonParameter } from './parameters.ts';

/** How many hosts an offer looks at, by rank and by time. */
const MOST_LOOKED_AT = 5_000;

export function createPostgresHostStore(database: PostgresDatabase): Omit<HostStore, keyof HostRecordStore> {
  return {
    async offerHosts(limit) {
      // Bounded on both sides: by rank alone, a million hosts that are not due yet would be passed over one by one;
      // by time alone, a million that are due would be sorted. Past both bounds, those due for longest go first.
      const rows = await database.query(
        `SELECT key, rank FROM (
           (SELECT id, key, rank FROM (
              SELECT id, key, rank, next_at FROM hosts WHERE next_at IS NOT NULL ORDER BY rank, id LIMIT $2
            ) ranked WHERE next_at <= (SELECT ${NOW}))
           UNION
           (SELECT id, key, rank FROM hosts WHERE next_at <= (SELECT ${NOW}) ORDER BY next_at LIMIT $2)
         ) due ORDER BY rank, id LIMIT $1`,
        [limit, limit + MOST_LOOKED_AT],
      );
      return rows.map((row) => ({ key: hostKeyFromRow(row.key), rank: Number(row.rank) }));
    },

    async acquireHost(key, owner, leaseMs, former) {
      const [row] = await database.query(`SELECT * FROM acquire_host($1, $2, $3, $4, ${NOW})`, [
        key,
        owner,
        former?.incarnation ?? null,
        leaseMs,
      ]);
      if (row === undefined) return null;
      return {
        hostId: Number(row.host_id) as HostId,
        epoch: Number(row.epoch),
        incarnation: String(row.incarnation) as Incarnation,
        key,
        state: hostStateOf(row.state),
        isTakenOver: row.is_taken_over === true,
      };
    },

    async renewHosts(leases, leaseMs) {
      if (leases.length === 0) return [];
      const rows = await database.query(
        `SELECT * FROM renew_hosts($1, lease_epochs($2, $4), ${NOW}, $3) AS lost`,
        [
          leases.map(({ hostId }) => hostId),
          leases.map(({ epoch }) => epoch),
          leaseMs,
          leases.map(({ incarnation }) => incarnation),
        ],
      );
      return rows.map((row) => Number(row.lost) as HostId);
    },

    async releaseHost(lease, state, notBefore) {
      await database.query(`SELECT release_host($1, lease_epoch($2, $5), $3, $4, ${NOW})`, [
        lease.hostId,
        lease.epoch,
        jsonParameter(state),
        notBefore,
        lease.incarnation,
      ]);
    },

    async saveHosts(hosts) {
      if (hosts.length === 0) return;
      // Waits for no lock, so that it cannot be part of a deadlock.
      await database.query(
        `WITH held AS (
           SELECT h.id, l.state
           FROM unnest($1::bigint[], lease_epochs($2, $3), $4::text[]) AS l (id, epoch, state)
           JOIN hosts h ON h.id = l.id AND h.epoch = l.epoch AND h.owner IS NOT NULL
           FOR NO KEY UPDATE OF h SKIP LOCKED
         )
         UPDATE hosts SET state = held.state::jsonb FROM held WHERE hosts.id = held.id`,
        [
          hosts.map(({ lease }) => lease.hostId),
          hosts.map(({ lease }) => lease.epoch),
          hosts.map(({ lease }) => lease.incarnation),
          hosts.map(({ state }) => jsonParameter(state)),
        ],
      );
    },

    releaseAllHosts() {
      return Promise.reject(
        new Error('A PostgreSQL store is shared: it cannot be known that all owners of hosts are dead.'),
      );
    },

    async claimTasks(lease, limit, exceptJobs, turns = NO_TURNS) {
      const claimed: Task[] = [];
      const passedOver: JobSeq[] = [...exceptJobs];
      const turnsText = jsonParameter(turns);
      for (;;) {
        const rows = await database.query(
          `SELECT * FROM claim_tasks($1, lease_epoch($2, $5), $3, ${NOW}, $4, $6)`,
          [lease.hostId, lease.epoch, limit - claimed.length, passedOver, lease.incarnation, turnsText],
        );
        const [tasks, full] = [rows.filter(({ id }) => id !== null), rows.filter(({ id }) => id === null)];
        for (const row of tasks) {
          const task = taskOf(row, String(row.job_id) as JobId);
          claimed.push(row.is_bounded === true ? { ...task, isBounded: true } : task);
        }
        if (full.length === 0 || claimed.length >= limit) return claimed;
        for (const row of full) passedOver.push(Number(row.job_seq) as JobSeq);
      }
    },

    async startTask(lease, task, isAlone) {
      const rows = await database.query(
        `UPDATE tasks SET started_under = claim_name(host_id, epoch), started_alone = $5
         WHERE id = $1 AND host_id = $2 AND epoch = lease_epoch($3, $4) AND state = 'claimed' RETURNING id`,
        [task, lease.hostId, lease.epoch, lease.incarnation, isAlone],
      );
      return rows.length > 0;
    },

    addOptOut(optOut) {
      return database.transaction(async (query) => {
        await query(
          `INSERT INTO opt_outs (host, reason, contact, at, min_delay_ms) VALUES ($1, $2, $3, $4, $5)
           ON CONFLICT (host) DO UPDATE SET reason = excluded.reason, contact = excluded.contact, at = excluded.at,
             min_delay_ms = excluded.min_delay_ms`,
          [optOut.host, optOut.reason, optOut.contact, optOut.at, optOut.minDelayMs],
        );
        if (optOut.minDelayMs !== null) return;
        await query('SELECT deny_hosts($1, $2)', [optOut.host, optOut.at]);
      }, WHOLE_JOB_LIMIT_MS);
    },
  };
}
