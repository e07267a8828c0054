import type { AccountId } from '../../core/model/ids.ts';
import type { SecretKind, SecretRecord, SecretStore } from '../../core/ports/session-store.ts';
import { cursorOf, type Row } from '../store-rows/rows.ts';
import { change, type Methods, read } from './methods.ts';
import { either, raw, type Sql, sql } from './sql.ts';
import { changed, one, slice } from './steps.ts';

/** Where secrets are: as bytes of their own, or within JSON that is text in SQLite and `json` in PostgreSQL. */
interface Place {
  readonly table: string;
  readonly name: string;
  readonly column: string;
  readonly json?: 'text' | 'jsonb';
}

const PLACES: Readonly<Record<SecretKind, Place>> = {
  credential: { table: 'credentials', name: 'name', column: 'data' },
  session: { table: 'sessions', name: 'name', column: 'data' },
  webhook: { table: 'webhooks', name: 'id', column: 'data' },
  schedule: { table: 'schedules', name: 'id', column: 'job', json: 'text' },
  job: { table: 'jobs', name: 'id', column: 'options', json: 'jsonb' },
};

function asBytes({ column, json }: Place): Sql {
  if (json === undefined) return raw(column);
  return either(raw(`CAST(${column} AS BLOB)`), raw(`convert_to(${column}::text, 'UTF8')`));
}

function asColumn({ json }: Place, bytes: Uint8Array): Sql {
  if (json === undefined) return sql`${bytes}`;
  return either(sql`CAST(${bytes} AS TEXT)`, sql`convert_from(${bytes}, 'UTF8')${raw(`::${json}`)}`);
}

const beginsWithout = (hex: string): Sql =>
  either(raw(`substr(data, 1, 1) <> x'${hex}'`), raw(`substring(data from 1 for 1) <> '\\x${hex}'::bytea`));

const hasSealed = (column: string): Sql =>
  either(raw(`json_extract(${column}, '$.sealed') IS NOT NULL`), raw(`${column}::jsonb ? 'sealed'`));

export const secretStore: Methods<SecretStore> = {
  hasSealed: read(() =>
    one(
      sql`SELECT EXISTS (SELECT 1 FROM credentials)
        OR EXISTS (SELECT 1 FROM sessions WHERE ${beginsWithout('00')})
        OR EXISTS (SELECT 1 FROM webhooks WHERE ${beginsWithout('7b')})
        OR EXISTS (SELECT 1 FROM schedules WHERE ${hasSealed('job')})
        OR EXISTS (SELECT 1 FROM jobs WHERE ${hasSealed('options')}) AS found`,
      ({ found }) => Boolean(found),
    ),
  ),

  listSecrets: read(({ kind, cursor, limit }) => {
    const place = PLACES[kind];
    return slice(
      sql`SELECT seq, account_id, ${raw(place.name)} AS name, ${asBytes(place)} AS data FROM ${raw(place.table)}
        WHERE seq > ${cursorOf(cursor, 0)} ORDER BY seq LIMIT ${limit + 1}`,
      limit,
      (row) => recordOf(kind, row),
    );
  }),

  replaceSecret: change(({ kind, seq, data: before }, data) => {
    const place = PLACES[kind];
    const column = raw(place.column);
    return changed(
      sql`UPDATE ${raw(place.table)} SET ${column} = ${asColumn(place, data)}
        WHERE seq = ${seq} AND ${column} = ${asColumn(place, before)}`,
    );
  }),
};

const recordOf = (kind: SecretKind, row: Row): SecretRecord => ({
  kind,
  seq: Number(row.seq),
  accountId: String(row.account_id) as AccountId,
  name: String(row.name),
  data: row.data as Uint8Array,
});
