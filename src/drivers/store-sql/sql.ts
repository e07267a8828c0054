/** What a statement may be given as a parameter. A boolean is 0 or 1 in SQLite. */
export type SqlValue = string | number | boolean | null | Uint8Array;

/** A piece of SQL with its parameters, which is written for the one database or for the other. */
export type Sql = (to: SqlWriter) => void;

export type ColumnType = 'text' | 'bigint';

/** Each database has one: its placeholders and its forms of what the two write differently. */
export interface SqlWriter {
  readonly database: 'sqlite' | 'postgres';
  text(text: string): void;
  /** Adds a parameter, and its placeholder to the text. */
  value(value: SqlValue): void;
  /** Adds a value as a parameter of JSON, without characters that the database would refuse. */
  json(value: unknown): void;
  /** Adds the condition on what stands before it: one of the values. */
  oneOf(values: readonly (string | number)[], type: ColumnType): void;
  /** The time of the store. */
  now(): void;
}

/**
 * A statement or a part of one, once for both databases. What stands in `${…}` is a parameter, unless it is SQL itself:
 * text becomes SQL by `raw` only, so that a value can never be read as SQL.
 */
export function sql(texts: TemplateStringsArray, ...parts: readonly (Sql | SqlValue)[]): Sql {
  return (to) => {
    for (const [at, text] of texts.entries()) {
      to.text(text);
      const part = parts[at];
      if (typeof part === 'function') part(to);
      else if (part !== undefined) to.value(part);
    }
  };
}

/** Text that is SQL for both databases: a constant of the program, such as a list of columns. */
export const raw =
  (text: string): Sql =>
  (to) =>
    to.text(text);

/** For what the databases do not write alike. */
export const either =
  (sqlite: Sql, postgres: Sql): Sql =>
  (to) =>
    (to.database === 'sqlite' ? sqlite : postgres)(to);

export const eitherText = ({ sqlite, postgres }: { sqlite: string; postgres: string }): Sql =>
  either(raw(sqlite), raw(postgres));

export const NOTHING = raw('');
export const NULL = raw('NULL');

/** The part that is made with the value, where there is one. */
export const given = <T>(value: T | undefined, part: (value: T) => Sql): Sql =>
  value === undefined ? NOTHING : part(value);

export const json =
  (value: unknown): Sql =>
  (to) =>
    to.json(value);

/** The time of the store in epoch milliseconds, by which it decides what is due; see `Store`. */
export const CLOCK: Sql = (to) => to.now();

/** SQLite has one writer at a time, so only PostgreSQL locks rows. */
const lock = (clause: string): Sql => either(NOTHING, raw(clause));
export const FOR_NO_KEY_UPDATE = lock('FOR NO KEY UPDATE');
export const FOR_KEY_SHARE = lock('FOR KEY SHARE');
export const FOR_SHARE = lock('FOR SHARE');
export const FOR_UPDATE = lock('FOR UPDATE');
export const SKIP_LOCKED = lock('FOR UPDATE SKIP LOCKED');

/** The greatest of several values, none of which is NULL: with NULL the databases differ. */
export const GREATEST = either(raw('max'), raw('greatest'));

/** Text in the order of its bytes, which SQLite knows no other than. */
export const BY_BYTES = either(NOTHING, raw('COLLATE "C"'));

/** The condition on what stands before it: one of the values. */
export const oneOf =
  (values: readonly (string | number)[], type: ColumnType): Sql =>
  (to) =>
    to.oneOf(values, type);

/** A table of rows that the program hands over, under a name, for `FROM`. */
export const rowsOf = <Column extends string>(
  name: string,
  columns: Readonly<Record<Column, ColumnType | 'bytes'>>,
  rows: readonly Readonly<Record<Column, string | number | Uint8Array | null>>[],
): Sql => {
  const names = Object.keys(columns) as Column[];
  /** The rows as JSON: SQLite reads bytes from hexadecimal digits only. */
  const written = (encoding: 'hex' | 'base64') =>
    rows.map((row) =>
      Object.fromEntries(
        names.map((column) => {
          const value = row[column];
          return [column, value instanceof Uint8Array ? Buffer.from(value).toString(encoding) : value];
        }),
      ),
    );
  const isBytes = (column: Column) => columns[column] === 'bytes';
  return (to) => {
    if (to.database === 'sqlite') {
      const read = (column: Column) =>
        isBytes(column) ? `unhex(value ->> '${column}')` : `value ->> '${column}'`;
      const selected = names.map((column) => `${read(column)} AS ${column}`).join(', ');
      sql`(SELECT ${raw(selected)} FROM json_each(${json(written('hex'))})) AS ${raw(name)}`(to);
    } else {
      const selected = names.map((column) =>
        isBytes(column) ? `decode(${column}, 'base64') AS ${column}` : column,
      );
      const declared = names.map((column) => `${column} ${isBytes(column) ? 'text' : columns[column]}`);
      sql`(SELECT ${raw(selected.join(', '))}
        FROM jsonb_to_recordset(${json(written('base64'))}::jsonb) AS r (${raw(declared.join(', '))})
      ) AS ${raw(name)}`(to);
    }
  };
};
