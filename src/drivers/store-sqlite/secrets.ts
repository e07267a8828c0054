import type { AccountId } from '../../core/model/ids.ts';
import type { SecretKind, SecretRecord, SecretStore } from '../../core/ports/secret-store.ts';
import { cursorOf, sliceOf } from '../store-rows/rows.ts';
import type { SqliteDatabase, SqliteRow } from './database.ts';
import type { Synchronous } from './synchronous.ts';

const LISTS: Readonly<Record<SecretKind, string>> = {
  credential: 'SELECT seq, account_id, name, data FROM credentials WHERE seq > ? ORDER BY seq LIMIT ?',
  session: 'SELECT seq, account_id, name, data FROM sessions WHERE seq > ? ORDER BY seq LIMIT ?',
  job: 'SELECT seq, account_id, id AS name, CAST(options AS BLOB) AS data FROM jobs WHERE seq > ? ORDER BY seq LIMIT ?',
  webhook: 'SELECT seq, account_id, id AS name, data FROM webhooks WHERE seq > ? ORDER BY seq LIMIT ?',
  schedule:
    'SELECT seq, account_id, id AS name, CAST(job AS BLOB) AS data FROM schedules WHERE seq > ? ORDER BY seq LIMIT ?',
};
const CHANGES: Readonly<Record<SecretKind, string>> = {
  credential: 'UPDATE credentials SET data = ? WHERE seq = ? AND data = ?',
  session: 'UPDATE sessions SET data = ? WHERE seq = ? AND data = ?',
  webhook: 'UPDATE webhooks SET data = ? WHERE seq = ? AND data = ?',
  job: 'UPDATE jobs SET options = CAST(? AS TEXT) WHERE seq = ? AND options = CAST(? AS TEXT)',
  schedule: 'UPDATE schedules SET job = CAST(? AS TEXT) WHERE seq = ? AND job = CAST(? AS TEXT)',
};

export function createSqliteSecretStore(database: SqliteDatabase): Synchronous<SecretStore> {
  return {
    hasSealed() {
      const row = database.get(
        `SELECT EXISTS (SELECT 1 FROM credentials)
           OR EXISTS (SELECT 1 FROM sessions WHERE substr(data, 1, 1) <> x'00')
           OR EXISTS (SELECT 1 FROM webhooks WHERE substr(data, 1, 1) <> x'7b')
           OR EXISTS (SELECT 1 FROM schedules WHERE json_extract(job, '$.sealed') IS NOT NULL)
           OR EXISTS (SELECT 1 FROM jobs WHERE json_extract(options, '$.sealed') IS NOT NULL) AS found`,
      );
      return Number(row?.found) === 1;
    },

    listSecrets({ kind, cursor, limit }) {
      const rows = database.all(LISTS[kind], cursorOf(cursor, 0), limit + 1);
      return sliceOf(rows, limit, 'seq', (row) => recordOf(kind, row as SqliteRow));
    },

    replaceSecret({ kind, seq, data: before }, data) {
      return database.run(CHANGES[kind], data, seq, before) > 0;
    },
  };
}

const recordOf = (kind: SecretKind, row: SqliteRow): SecretRecord => ({
  kind,
  seq: Number(row.seq),
  accountId: String(row.account_id) as AccountId,
  name: String(row.name),
  data: row.data as Uint8Array,
});
