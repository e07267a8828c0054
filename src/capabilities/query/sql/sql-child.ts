import type { DuckDBConnection, DuckDBResult, DuckDBValue } from '@duckdb/node-api';
import { refusalOf } from './check-statement.ts';
import type { SqlValue } from './sql-request.ts';

/**
 * The process that runs one query. It has no environment, no store and no keys; it gets the query and the files that it
 * may read from its input, and writes lines of JSON. Nothing else may import it: it loads DuckDB.
 */
export interface SqlTask {
  readonly sql: string;
  readonly limit: number;
  readonly mostBytes: number;
  readonly memoryMb: number;
  /** The files that the views read, and no others can be. */
  readonly paths: readonly string[];
  /** Statements that make the views. */
  readonly views: readonly string[];
  readonly viewNames: readonly string[];
}

export type SqlLine =
  | { readonly columns: readonly { readonly name: string; readonly type: string }[] }
  | { readonly rows: readonly (readonly SqlValue[])[] }
  | { readonly end: SqlCount }
  | { readonly error: { readonly kind: SqlErrorKind; readonly message: string } };

interface SqlCount {
  readonly rows: number;
  readonly isTruncated: boolean;
}

export type SqlErrorKind = 'missing' | 'refused' | 'failed' | 'memory' | 'wide';

/** Rows go out together up to this, so that no line of many wide ones holds up the process that reads it. */
const LINE_BYTES = 65_536;

type Api = typeof import('@duckdb/node-api');

class QueryError extends Error {
  readonly kind: SqlErrorKind;
  constructor(kind: SqlErrorKind, message: string) {
    super(message);
    this.kind = kind;
  }
}

const literal = (text: string) => `'${text.replaceAll("'", "''")}'`;

async function main(): Promise<void> {
  const task = JSON.parse(await readInput()) as SqlTask;
  try {
    await runTask(task);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const kind = error instanceof QueryError ? error.kind : kindOf(message);
    await writeLine({ error: { kind, message } });
  }
  // DuckDB's threads may still be at work.
  process.exit(0);
}

async function runTask(task: SqlTask): Promise<void> {
  // DuckDB takes some texts only up to there, so what it checks and what it runs could differ.
  if (task.sql.includes('\0')) throw new QueryError('refused', 'the character U+0000');
  const api = await loadDuckDb();
  const connection = await openLocked(task, api);
  const tree = await connection.runAndReadAll('SELECT json_serialize_sql($1::VARCHAR)', [task.sql]);
  const parsed = JSON.parse(String(tree.getRows()[0]?.[0])) as {
    error?: boolean;
    error_type?: string;
    error_message?: string;
  };
  if (parsed.error === true) {
    const message = String(parsed.error_message ?? 'The statement cannot be read.');
    const isRefused = parsed.error_type === 'not implemented' || /only select/i.test(message);
    throw new QueryError(isRefused ? 'refused' : 'failed', isRefused ? 'anything but a SELECT' : message);
  }
  const refusal = refusalOf(parsed, new Set(task.viewNames));
  if (refusal !== null) throw new QueryError('refused', refusal.what);
  const statements = await connection.extractStatements(task.sql);
  if (statements.count !== 1) throw new QueryError('refused', 'anything but one statement');
  const prepared = await statements.prepare(0);
  if (prepared.statementType !== api.StatementType.SELECT)
    throw new QueryError('refused', 'anything but a SELECT');
  const result = await prepared.stream();
  await writeLine({
    columns: result
      .deduplicatedColumnNames()
      .map((name, at) => ({ name, type: String(result.columnType(at)) })),
  });
  await writeLine({ end: await writeRows(result, task, api) });
}

/** Ends before the row that would be one too many, or with which the rows would take too many bytes. */
async function writeRows(result: DuckDBResult, { limit, mostBytes }: SqlTask, api: Api): Promise<SqlCount> {
  let [rows, bytes] = [0, 0];
  let waiting: string[] = [];
  let waitingBytes = 0;
  const flush = async () => {
    if (waiting.length > 0) await writeText(`{"rows":[${waiting.join(',')}]}`);
    waiting = [];
    waitingBytes = 0;
  };
  for (;;) {
    const chunk = await result.fetchChunk();
    const count = chunk?.rowCount ?? 0;
    if (chunk === null || count === 0) break;
    for (let at = 0; at < count; at += 1) {
      const isOneMore = rows < limit;
      const text = isOneMore ? JSON.stringify(chunk.getRowValues(at).map((each) => plainOf(each, api))) : '';
      const textBytes = Buffer.byteLength(text);
      if (isOneMore && rows === 0 && textBytes > mostBytes) {
        throw new QueryError('wide', `${textBytes} bytes, and an answer at most ${mostBytes}`);
      }
      if (!isOneMore || bytes + textBytes > mostBytes) {
        await flush();
        return { rows, isTruncated: true };
      }
      waiting.push(text);
      waitingBytes += textBytes;
      bytes += textBytes;
      rows += 1;
      if (waitingBytes >= LINE_BYTES) await flush();
    }
    await flush();
  }
  return { rows, isTruncated: false };
}

async function loadDuckDb(): Promise<Api> {
  try {
    return await import('@duckdb/node-api');
  } catch {
    throw new QueryError('missing', 'DuckDB is not installed.');
  }
}

/** A database in memory that can read the given files and change nothing of how it is set up. */
async function openLocked({ paths, views, memoryMb }: SqlTask, api: Api): Promise<DuckDBConnection> {
  const instance = await api.DuckDBInstance.create(':memory:', {
    threads: '2',
    memory_limit: `${memoryMb}MB`,
    temp_directory: '',
    max_temp_directory_size: '0B',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    allow_community_extensions: 'false',
    allow_unsigned_extensions: 'false',
    allow_persistent_secrets: 'false',
  });
  const connection = await instance.connect();
  await connection.run(`SET allowed_paths = [${paths.map(literal).join(', ')}]`);
  await connection.run('SET enable_external_access = false');
  for (const view of views) await connection.run(view);
  await connection.run('SET lock_configuration = true');
  return connection;
}

/** As JSON can say it: numbers as long as they are exact, everything without a form in JSON as text. */
function plainOf(value: DuckDBValue, api: Api): SqlValue {
  const inner = (each: DuckDBValue) => plainOf(each, api);
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'bigint') {
    return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER)
      ? Number(value)
      : String(value);
  }
  if ('items' in value) return (value.items as readonly DuckDBValue[]).map(inner);
  if (value instanceof api.DuckDBMapValue) {
    return value.entries.map((entry) => ({ key: inner(entry.key), value: inner(entry.value) }));
  }
  if (value instanceof api.DuckDBStructValue) {
    return Object.fromEntries(Object.entries(value.entries).map(([name, each]) => [name, inner(each)]));
  }
  return String(value);
}

const kindOf = (message: string): SqlErrorKind =>
  /out of memory|memory limit|bad_alloc|failed to allocate/i.test(message)
    ? 'memory'
    : /permission error|file system operations|configuration has been locked/i.test(message)
      ? 'refused'
      : 'failed';

async function readInput(): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

const writeLine = (line: SqlLine) => writeText(JSON.stringify(line));

function writeText(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.write(`${text}\n`, (error) => (error == null ? resolve() : reject(error)));
  });
}

await main();
