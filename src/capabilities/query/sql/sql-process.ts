import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guarded, listen, listenOnce } from '../../../core/errors/guarded.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { siblingModule } from '../../../lib/threads/thread.ts';
import type { SqlErrorKind, SqlLine, SqlTask } from './sql-child.ts';

/** What one process may take. */
export interface ProcessLimits {
  readonly timeoutMs: number;
  /** The memory that DuckDB may use; the process gets what Node.js needs besides. */
  readonly memoryMb: number;
}

/** Memory of the process besides that of DuckDB. */
const OWN_MEMORY_MB = 768;
const SECOND_MS = 1_000;
/** DuckDB and Node.js have threads of their own, whose time counts together. */
const CPU_FACTOR = 3;
const MOST_STDERR = 4_096;

const INSTALL = 'npm install @duckdb/node-api';

/**
 * Runs one query in a process of its own, which has no environment and is killed at its limits or with the signal. Yields
 * the lines that it writes, and calls `onExit` when the process has ended, whether its lines were read or not. A crash of
 * the process is an error of the query and of nothing else.
 */
export async function* runSqlProcess(
  task: SqlTask,
  limits: ProcessLimits,
  onExit: () => void,
  signal?: AbortSignal,
): AsyncGenerator<Exclude<SqlLine, { error: unknown }>> {
  signal?.throwIfAborted();
  const child = start(limits);
  let isLate = false;
  const kill = guarded(() => child.kill('SIGKILL'));
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, limits.timeoutMs);
  signal?.addEventListener('abort', kill, { once: true });
  let stderr = '';
  listen(child.stderr, 'data', (chunk: Buffer) => {
    if (stderr.length < MOST_STDERR) stderr += chunk.toString('utf8');
  });
  const ended = new Promise<Error | null>((resolve) => {
    child.once('error', resolve);
    listenOnce(child, 'close', () => resolve(null));
  });
  // Unread output would put off `close`.
  listenOnce(child, 'error', onExit);
  listenOnce(child, 'exit', onExit);
  // A process that dies at once does not read its input.
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(JSON.stringify(task));
  try {
    if (child.stdout === null) throw new Error('The process of a query has no output.');
    let isWhole = false;
    for await (const text of createInterface({ input: child.stdout, crlfDelay: Number.POSITIVE_INFINITY })) {
      const line = JSON.parse(text) as SqlLine;
      if ('error' in line) throw errorOf(line.error.kind, line.error.message);
      if ('end' in line) isWhole = true;
      yield line;
    }
    const failure = await ended;
    if (isWhole) return;
    signal?.throwIfAborted();
    if (isLate) {
      throw new ScrapifieError(
        'QUERY_TIMEOUT',
        `The query took longer than ${limits.timeoutMs} ms and was stopped. Narrow it, or raise timeoutMs.`,
      );
    }
    if (failure !== null) throw failure;
    throw tooLarge(
      /bad_alloc|out of memory|allocation failed/i.test(stderr) || child.signalCode !== null
        ? `It needed more memory, or more time of the processor, than a query may have (${limits.memoryMb} MB).`
        : 'Its process ended before it was done.',
    );
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', kill);
    kill();
  }
}

function start({ timeoutMs, memoryMb }: ProcessLimits): ChildProcess {
  const program = [
    process.execPath,
    // The permissions of Node.js itself: no files are written, no processes or threads started. DuckDB is bound by its own
    // settings.
    ...['--permission', '--allow-addons', '--allow-fs-read=*', '--no-warnings'],
    ...['--max-old-space-size=256', fileURLToPath(siblingModule('./sql-child.ts', import.meta.url))],
  ];
  const [command = '', ...values] = [...reduced({ timeoutMs, memoryMb }), ...program];
  return spawn(command, values, { env: {}, cwd: '/', stdio: ['pipe', 'pipe', 'pipe'], windowsHide: true });
}

/**
 * What takes rights away from a process before it begins, where the system has it: limits of memory, time of the
 * processor, size of files (none are written) and core dumps; and a network of its own, which has nothing in it.
 */
function reduced({ timeoutMs, memoryMb }: ProcessLimits): readonly string[] {
  if (process.platform === 'win32') return [];
  const cpuSeconds = Math.ceil((timeoutMs / SECOND_MS) * CPU_FACTOR) + 1;
  const limits = [
    'ulimit -c 0',
    'ulimit -f 0',
    `ulimit -t ${cpuSeconds}`,
    // Private memory that can be written. Some systems do not know this limit: the others hold then.
    `ulimit -d ${(memoryMb + OWN_MEMORY_MB) * 1_024} 2>/dev/null || true`,
  ];
  return ['/bin/sh', '-c', `${limits.join('; ')}; exec "$@"`, 'sh', ...withoutNetwork()];
}

let unshare: readonly string[] | null = null;

/** Found out once: containers often forbid it. */
function withoutNetwork(): readonly string[] {
  if (unshare !== null) return unshare;
  const command = ['unshare', '--user', '--map-current-user', '--net', '--'];
  const [name = '', ...values] = [...command, 'true'];
  const tried =
    process.platform === 'linux' ? spawnSync(name, values, { stdio: 'ignore', timeout: SECOND_MS }) : null;
  unshare = tried?.status === 0 ? command : [];
  return unshare;
}

const tooLarge = (why: string) =>
  new ScrapifieError(
    'QUERY_TOO_LARGE',
    `The query was stopped. ${why} Ask for fewer rows, or narrow it by domains, since and until.`,
  );

function errorOf(kind: SqlErrorKind, message: string): ScrapifieError {
  switch (kind) {
    case 'missing':
      return new ScrapifieError(
        'QUERY_UNAVAILABLE',
        `SQL needs DuckDB, which is not installed here. Run "${INSTALL}" beside Scrapifie, or ask by {from, select, …}.`,
      );
    case 'refused':
      return new ScrapifieError('QUERY_REFUSED', `A query must not use ${message}.`, {
        details: [{ field: 'sql', message: `must not use ${message}` }],
      });
    case 'memory':
      return tooLarge('It needed more memory than a query may have.');
    case 'wide':
      return new ScrapifieError(
        'QUERY_TOO_LARGE',
        `The first row has ${message}. Select fewer columns, shorten texts, as left(text, 10000) does, or ask for NDJSON, which may be larger.`,
      );
    case 'failed':
      return new ScrapifieError('QUERY_FAILED', message, { details: [{ field: 'sql', message }] });
  }
}
