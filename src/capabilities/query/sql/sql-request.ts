import { z } from 'zod';

/** What a query may take at most, and what it may take unless it says otherwise. */
export const SQL_LIMITS = {
  sqlCharacters: 20_000,
  rows: { default: 1_000, most: 100_000 },
  timeoutMs: { default: 10_000, most: 60_000 },
  /** Limits of the rows as JSON: `answerBytes` when the answer is held in memory, `streamBytes` when it is streamed. */
  answerBytes: 16_777_216,
  streamBytes: 268_435_456,
  domains: 100,
} as const;

const day = z.iso.date();

/** The half of `POST /v1/query` that takes SQL. */
export const sqlFields = {
  sql: z
    .string()
    .min(1)
    .max(SQL_LIMITS.sqlCharacters)
    .describe('One SELECT in the SQL of DuckDB over the views `pages`, `links` and `records` of the lake.')
    .meta({ examples: ['SELECT host, count(*) AS pages FROM pages GROUP BY host ORDER BY pages DESC'] }),
  limit: z
    .int()
    .min(1)
    .max(SQL_LIMITS.rows.most)
    .default(SQL_LIMITS.rows.default)
    .describe('Most rows of the answer; `isTruncated` says whether there were more.'),
  timeoutMs: z
    .int()
    .min(100)
    .max(SQL_LIMITS.timeoutMs.most)
    .default(SQL_LIMITS.timeoutMs.default)
    .describe('The query is stopped after this time.'),
  domains: z
    .array(z.string().min(1).max(253))
    .max(SQL_LIMITS.domains)
    .optional()
    .describe('Only files of these hosts are read; with the port where it is not the default.'),
  since: day.optional().describe('Only files of this day (UTC) and later are read.'),
  until: day.optional().describe('Only files of this day (UTC) and earlier are read.'),
};

export const sqlRequestSchema = z.strictObject(sqlFields);

export type SqlRequest = z.output<typeof sqlRequestSchema>;

export type SqlValue =
  | string
  | number
  | boolean
  | null
  | readonly SqlValue[]
  | { readonly [name: string]: SqlValue };

interface SqlColumn {
  readonly name: string;
  /** The type of the column, as DuckDB names it. */
  readonly type: string;
}

export interface SqlResult {
  readonly columns: readonly SqlColumn[];
  /** Values in the order of the columns. */
  readonly rows: AsyncIterable<readonly SqlValue[]>;
  /** Known when the last row has been read. */
  readonly end: () => SqlEnd;
  /** Ends the query, read to its end or not. */
  close(): Promise<void>;
}

export interface SqlEnd {
  readonly rows: number;
  /** There were more rows than `limit`, or than fit into the answer. */
  readonly isTruncated: boolean;
  readonly elapsedMs: number;
}

export interface SqlAnswer {
  readonly columns: readonly SqlColumn[];
  readonly items: readonly Readonly<Record<string, SqlValue>>[];
  readonly nextCursor: null;
  readonly isTruncated: boolean;
}

/** The rows as objects with the names of the columns. */
export async function* eachSqlItem({
  columns,
  rows,
}: SqlResult): AsyncGenerator<Readonly<Record<string, SqlValue>>> {
  for await (const row of rows) {
    yield Object.fromEntries(columns.map(({ name }, at) => [name, row[at] ?? null]));
  }
}

/** The whole answer, in the form of typed queries. */
export async function answerOf(result: SqlResult): Promise<SqlAnswer> {
  try {
    const items = await Array.fromAsync(eachSqlItem(result));
    const { isTruncated } = result.end();
    return { columns: result.columns, items, nextCursor: null, isTruncated };
  } finally {
    await result.close();
  }
}
