import type { ContentHash } from '../../core/model/ids.ts';
import type { PortableRow, PortableValue, TableShape } from '../../core/ports/store-copy.ts';
import { isCopied, isCopiedColumn, quoted } from '../store-rows/copied-tables.ts';
import type { Row } from '../store-rows/rows.ts';
import { referenceStore } from '../store-sql/references.ts';
import type { Query } from './database.ts';
import { storableJson, storableText } from './parameters.ts';
import { runPostgres } from './sql-methods.ts';

/** A table of the schema with what a copy needs to know of its columns. */
export interface PostgresTable extends TableShape {
  /** The type of each column as PostgreSQL names it, such as `bigint` or `text[]`. */
  readonly types: ReadonlyMap<string, string>;
  /** The column whose numbers the table gives out by itself; null: none. */
  readonly numbered: string | null;
}

const ROWS_AT_ONCE = 500;
const PAGES_AT_ONCE = 500;

/** Every table that a copy has, by the schema. */
export async function postgresTables(query: Query): Promise<PostgresTable[]> {
  const columns = await query(
    `SELECT c.relname AS table_name, a.attname AS name, format_type(a.atttypid, NULL) AS type,
       pg_get_serial_sequence(quote_ident(c.relname), a.attname) AS sequence
     FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
     WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition
       AND a.attgenerated = ''
     ORDER BY c.relname COLLATE "C", a.attname COLLATE "C"`,
  );
  const byTable = Map.groupBy(columns, (column) => String(column.table_name));
  const tables: PostgresTable[] = [];
  for (const [name, found] of byTable) {
    if (!isCopied(name)) continue;
    const kept = found.filter((column) => isCopiedColumn(name, String(column.name)));
    const numbered = kept.find(({ sequence }) => sequence !== null);
    tables.push({
      name,
      columns: kept.map((column) => String(column.name)),
      types: new Map(kept.map((column) => [String(column.name), String(column.type)])),
      numbered: numbered === undefined ? null : String(numbered.name),
      lastNumber: numbered === undefined ? null : await lastNumberOf(query, name, numbered),
    });
  }
  return tables;
}

async function lastNumberOf(query: Query, table: string, { name, sequence }: Row): Promise<number> {
  const [row] = await query(
    `SELECT greatest(coalesce((SELECT max(${quoted(String(name))}) FROM ${quoted(table)}), 0),
       (SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${String(sequence)})) AS last`,
  );
  return Number(row?.last);
}

/** How PostgreSQL writes and reads the values of a type that other stores have in another form. */
interface TypeMapping {
  /** The expression that selects a portable value. */
  readonly select: (column: string) => string;
  /** The expression that makes a column's value of the text of a portable one. */
  readonly insert: (text: string, type: string) => string;
  readonly isRight: (value: PortableValue) => boolean;
  readonly parse: (text: string) => PortableValue;
}

const asText = (column: string) => `${column}::text`;
const cast = (text: string, type: string) => `${text}::${type}`;
const isNumber = (value: PortableValue) => typeof value === 'number' || typeof value === 'bigint';
const isText = (value: PortableValue) => typeof value === 'string';

function wholeNumber(text: string): PortableValue {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

const TEXT: TypeMapping = { select: asText, insert: cast, isRight: isText, parse: (text) => text };
const WHOLE: TypeMapping = { select: asText, insert: cast, isRight: isNumber, parse: wholeNumber };
const FRACTION: TypeMapping = { select: asText, insert: cast, isRight: isNumber, parse: Number };
/** JSON as text, without the spaces that PostgreSQL puts in. */
const JSON_TEXT: TypeMapping = { ...TEXT, parse: (text) => JSON.stringify(JSON.parse(text)) };
const BOOLEAN: TypeMapping = {
  select: (column) => `${column}::int::text`,
  insert: (text) => `${text}::int::boolean`,
  isRight: (value) => value === 0 || value === 1,
  parse: Number,
};
const TIME: TypeMapping = {
  select: (column) => `round(extract(epoch FROM ${column}) * 1000)::bigint::text`,
  insert: (text) => `to_timestamp(${text}::float8 / 1000)`,
  isRight: isNumber,
  parse: wholeNumber,
};
const BYTES: TypeMapping = {
  select: (column) => column,
  insert: (bytes) => bytes,
  isRight: (value) => value instanceof Uint8Array,
  parse: (text) => text,
};
const LIST: TypeMapping = {
  ...JSON_TEXT,
  select: (column) => `to_jsonb(${column})::text`,
  insert: (text, type) =>
    `CASE WHEN ${text} IS NULL THEN NULL ELSE ARRAY(SELECT jsonb_array_elements_text(${text}::jsonb))::${type} END`,
};

const MAPPINGS: Readonly<Record<string, TypeMapping>> = {
  text: TEXT,
  'character varying': TEXT,
  uuid: TEXT,
  inet: TEXT,
  cidr: TEXT,
  smallint: WHOLE,
  integer: WHOLE,
  bigint: WHOLE,
  xid8: WHOLE,
  numeric: FRACTION,
  real: FRACTION,
  'double precision': FRACTION,
  json: JSON_TEXT,
  jsonb: JSON_TEXT,
  boolean: BOOLEAN,
  'timestamp with time zone': TIME,
  bytea: BYTES,
};

export function mappingOf({ name, types }: PostgresTable, column: string): TypeMapping | null {
  const type = types.get(column);
  if (type === undefined) return null;
  const mapping = type.endsWith('[]') ? LIST : MAPPINGS[type];
  if (mapping === undefined)
    throw new Error(`The column ${name}.${column} has the type ${type}, which no copy knows.`);
  return mapping;
}

/** Within the transaction of the session: by a cursor, so that few rows are in memory. */
export async function* postgresRows(
  query: Query,
  table: PostgresTable,
): AsyncGenerator<readonly PortableRow[]> {
  const mappings = table.columns.map((column) => mappingOf(table, column) ?? TEXT);
  const list = table.columns
    .map((column, at) => `${mappings[at]?.select(quoted(column))} AS c${at}`)
    .join(', ');
  await query(`DECLARE copied NO SCROLL CURSOR FOR SELECT ${list} FROM ${quoted(table.name)}`);
  try {
    for (;;) {
      const rows = await query(`FETCH ${ROWS_AT_ONCE} FROM copied`);
      if (rows.length === 0) return;
      yield rows.map((row) => mappings.map(({ parse }, at) => portable(row[`c${at}`], parse)));
    }
  } finally {
    // Fails only with the transaction, of which the caller hears.
    await query('CLOSE copied').catch(() => undefined);
  }
}

function portable(value: unknown, parse: TypeMapping['parse']): PortableValue {
  if (value === null || value === undefined) return null;
  return value instanceof Uint8Array ? value : parse(String(value));
}

/** What is sent for a portable value. */
export function parameterOf(value: PortableValue | undefined, isJson: boolean): string | Uint8Array | null {
  if (value === null || value === undefined) return null;
  if (value instanceof Uint8Array) return value;
  if (typeof value !== 'string') return String(value);
  return isJson ? storableJson(value) : storableText(value);
}

/** Every blob that the rows refer to, by the code that also says which bodies must not be removed. */
export async function* postgresReferences(query: Query): AsyncGenerator<readonly ContentHash[]> {
  const run = () => Promise.reject(new Error('A copy changes nothing of the store that it reads.'));
  for (let cursor: string | undefined; ; ) {
    const { items, nextCursor } = await runPostgres(
      referenceStore.listReferences.steps({ limit: PAGES_AT_ONCE, cursor }),
      { query, run },
    );
    yield items;
    if (nextCursor === null) return;
    cursor = nextCursor;
  }
}
