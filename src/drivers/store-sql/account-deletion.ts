import type { AccountId } from '../../core/model/ids.ts';
import type { RetentionLimits } from '../../core/model/retention.ts';
import type { AccountDeletionStore, AccountRetention } from '../../core/ports/account-store.ts';
import type { Row } from '../store-rows/rows.ts';
import { refuseWhileDeleted } from './keys.ts';
import { type Methods, read, transaction } from './methods.ts';
import { CLOCK, either, FOR_NO_KEY_UPDATE, FOR_UPDATE, json, NULL, raw, sql } from './sql.ts';
import { changed, get, list, run } from './steps.ts';

/** Deleted by calls of their own: jobs in steps, keys and accounts last. */
const LAST_TABLES: ReadonlySet<string> = new Set(['accounts', 'jobs', 'keys']);

/** Tables with rows of an account, read from the schema: a table that comes with a later version is covered unnamed. */
const ACCOUNT_TABLES = either(
  sql`SELECT m.name, (SELECT json_group_array(name ORDER BY pk) FROM pragma_table_info(m.name) WHERE pk > 0) AS key,
      (SELECT json_group_array(DISTINCT "table") FROM pragma_foreign_key_list(m.name)) AS refers_to
    FROM sqlite_schema m JOIN pragma_table_info(m.name) c
    WHERE m.type = 'table' AND c.name = 'account_id' ORDER BY m.name`,
  sql`SELECT t.relname AS name,
      (SELECT json_agg(k.attname ORDER BY array_position(i.indkey::int2[], k.attnum)) FROM pg_index i
         JOIN pg_attribute k ON k.attrelid = t.oid AND k.attnum = ANY (i.indkey)
       WHERE i.indrelid = t.oid AND i.indisprimary) AS key,
      (SELECT coalesce(json_agg(DISTINCT r.relname), '[]') FROM pg_constraint f
         JOIN pg_class r ON r.oid = f.confrelid WHERE f.conrelid = t.oid AND f.contype = 'f') AS refers_to
    FROM pg_class t JOIN pg_attribute c ON c.attrelid = t.oid AND c.attname = 'account_id' AND NOT c.attisdropped
    WHERE t.relkind = 'r' AND t.relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = 'accounts'::regclass)
    ORDER BY t.relname`,
);

/** The column for what each of them says about retention. */
const RETENTION_COLUMNS = { own: 'retention', operator: 'operator_retention' } as const;

export const accountDeletionStore: Methods<AccountDeletionStore> = {
  beginAccountDeletion: transaction(function* (id) {
    const account = yield* get(
      sql`UPDATE accounts SET deleting_at = coalesce(deleting_at, ${CLOCK}), disabled_at = coalesce(disabled_at, ${CLOCK})
        WHERE id = ${id} RETURNING deleting_at`,
    );
    // A statement of its own: it finds keys that were made while the one before waited for the account.
    yield* run(sql`UPDATE keys SET revoked_at = ${CLOCK} WHERE account_id = ${id} AND revoked_at IS NULL`);
    return account === undefined ? null : Number(account.deleting_at);
  }),

  listAccountDeletions: read((limit) =>
    list(
      sql`SELECT a.id, a.deleting_at, (SELECT count(*) FROM jobs j WHERE j.account_id = a.id) AS jobs
        FROM accounts a WHERE a.deleting_at IS NOT NULL ORDER BY a.deleting_at, a.id LIMIT ${limit}`,
      (row) => ({
        id: String(row.id) as AccountId,
        startedAt: Number(row.deleting_at),
        jobs: Number(row.jobs),
      }),
    ),
  ),

  purgeAccount: transaction(function* (id, limit) {
    const marked = yield* get(
      sql`SELECT id FROM accounts WHERE id = ${id} AND deleting_at IS NOT NULL ${FOR_UPDATE}`,
    );
    if (marked === undefined) return { rows: 0, isGone: true };
    let rows = 0;
    const tables = yield* list(ACCOUNT_TABLES, (row) => ({
      name: String(row.name),
      key: JSON.parse(String(row.key)) as string[],
      refersTo: JSON.parse(String(row.refers_to)) as string[],
    }));
    for (const { name, key } of inDeletionOrder(tables)) {
      if (rows >= limit) return { rows, isGone: false };
      const [table, columns] = [raw(name), raw(key.join(', '))];
      rows += yield* run(
        sql`DELETE FROM ${table} WHERE (${columns}) IN (
          SELECT ${columns} FROM ${table} WHERE account_id = ${id} LIMIT ${limit - rows}
        )`,
      );
    }
    const job = yield* get(sql`SELECT 1 FROM jobs WHERE account_id = ${id} LIMIT 1`);
    if (rows > 0 || job !== undefined) return { rows, isGone: false };
    rows += yield* run(sql`DELETE FROM keys WHERE account_id = ${id}`);
    rows += yield* run(sql`DELETE FROM accounts WHERE id = ${id}`);
    return { rows, isGone: true };
  }),

  accountRetention: read(function* (id) {
    return accountRetentionOf(
      yield* get(sql`SELECT retention, operator_retention FROM accounts WHERE id = ${id}`),
    );
  }),

  setAccountRetention: transaction(function* (id, by, limits) {
    const account = yield* get(sql`SELECT deleting_at FROM accounts WHERE id = ${id} ${FOR_NO_KEY_UPDATE}`);
    refuseWhileDeleted(id, account);
    return yield* changed(
      sql`UPDATE accounts SET ${raw(RETENTION_COLUMNS[by])} = ${limits === null ? NULL : json(limits)}
        WHERE id = ${id}`,
    );
  }),
};

/** A table with rows of accounts, as the schema describes it. */
interface AccountTable {
  readonly name: string;
  /** Columns of the primary key. */
  readonly key: readonly string[];
  /** Other tables that its rows refer to. */
  readonly refersTo: readonly string[];
}

/** Puts tables that refer to others before these, so that no row is left that refers to a deleted one. */
function inDeletionOrder(tables: readonly AccountTable[]): readonly AccountTable[] {
  const ordered: AccountTable[] = [];
  let rest = tables.filter(({ name }) => !LAST_TABLES.has(name));
  while (rest.length > 0) {
    const isReferred = (name: string) =>
      rest.some((other) => other.name !== name && other.refersTo.includes(name));
    const free = rest.filter(({ name }) => !isReferred(name));
    // Tables that refer to each other cannot be ordered; the store will say which row is in the way.
    const next = free.length > 0 ? free : rest;
    ordered.push(...next);
    rest = rest.filter((table) => !next.includes(table));
  }
  return ordered;
}

function accountRetentionOf(row: Row | undefined): AccountRetention {
  const limits = (text: unknown) => (text === null ? null : (JSON.parse(String(text)) as RetentionLimits));
  return { own: limits(row?.retention ?? null), operator: limits(row?.operator_retention ?? null) };
}
