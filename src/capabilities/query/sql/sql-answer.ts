import type { SqlAnswer, SqlResult, SqlValue } from './sql-request.ts';

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
