import type { AccountId } from '../../core/model/ids.ts';
import type { SecretKind, SecretRecord, SecretStore } from '../../core/ports/secret-store.ts';
import { cursorOf, type Row, sliceOf } from '../store-rows/rows.ts';
import type { PostgresDatabase } from './database.ts';

const LISTS: Readonly<Record<SecretKind, string>> = {
  credential: 'SELECT seq, account_id, name, data FROM credentials WHERE seq > $1 ORDER BY seq LIMIT $2',
  session: 'SELECT seq, account_id, name, data FROM sessions WHERE seq > $1 ORDER BY seq LIMIT $2',
  job: `SELECT seq, account_id, id AS name, convert_to(options::text, 'UTF8') AS data
    FROM jobs WHERE seq > $1 ORDER BY seq LIMIT $2`,
  webhook: 'SELECT seq, account_id, id AS name, data FROM webhooks WHERE seq > $1 ORDER BY seq LIMIT $2',
  schedule: `SELECT seq, account_id, id AS name, convert_to(job, 'UTF8') AS data
    FROM schedules WHERE seq > $1 ORDER BY seq LIMIT $2`,
};
const CHANGES: Readonly<Record<SecretKind, string>> = {
  credential: 'UPDATE credentials SET data = $1 WHERE seq = $2 AND data = $3 RETURNING seq',
  session: 'UPDATE sessions SET data = $1 WHERE seq = $2 AND data = $3 RETURNING seq',
  webhook: 'UPDATE webhooks SET data = $1 WHERE seq = $2 AND data = $3 RETURNING seq',
  job: `UPDATE jobs SET options = convert_from($1, 'UTF8')::jsonb
    WHERE seq = $2 AND options = convert_from($3, 'UTF8')::jsonb RETURNING seq`,
  schedule: `UPDATE schedules SET job = convert_from($1, 'UTF8')
    WHERE seq = $2 AND job = convert_from($3, 'UTF8') RETURNING seq`,
};

export function createPostgresSecretStore(database: PostgresDatabase): SecretStore {
  return {
    async hasSealed() {
      const [row] = await database.query(
        `SELECT EXISTS (SELECT 1 FROM credentials)
           OR EXISTS (SELECT 1 FROM sessions WHERE substring(data from 1 for 1) <> '\\x00'::bytea)
           OR EXISTS (SELECT 1 FROM webhooks WHERE substring(data from 1 for 1) <> '\\x7b'::bytea)
           OR EXISTS (SELECT 1 FROM schedules WHERE job::jsonb ? 'sealed')
           OR EXISTS (SELECT 1 FROM jobs WHERE options ? 'sealed') AS found`,
        [],
      );
      return row?.found === true;
    },

    async listSecrets({ kind, cursor, limit }) {
      const rows = await database.query(LISTS[kind], [cursorOf(cursor, 0), limit + 1]);
      return sliceOf(rows, limit, 'seq', (row) => recordOf(kind, row));
    },

    async replaceSecret({ kind, seq, data: before }, data) {
      const rows = await database.query(CHANGES[kind], [data, seq, before]);
      return rows.length > 0;
    },
  };
}

const recordOf = (kind: SecretKind, row: Row): SecretRecord => ({
  kind,
  seq: Number(row.seq),
  accountId: String(row.account_id) as AccountId,
  name: String(row.name),
  data: row.data as Uint8Array,
});
