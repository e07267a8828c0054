import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM } from '../../program.ts';

const START_MS = 60_000;

/** A whole server in a process of its own, in a folder of its own. */
export interface FuzzedServer {
  readonly port: number;
  readonly apiKey: string;
  /** What must never be in an answer. */
  readonly secrets: readonly string[];
  /** Null while it runs. */
  exit(): string | null;
  /** What it has written to standard error besides its log, the last part. */
  stderr(): string;
  residentBytes(): number;
  openFiles(): number;
  /** Keeps all of its threads to these cores of the machine, written as `taskset` takes them. */
  keepTo(cores: string): void;
  /** CPU time of its main thread, and the time for which that was ready to run and the machine had no core for it. */
  mainThread(): { readonly usedMs: number; readonly waitedMs: number };
  close(): Promise<void>;
}

export async function startFuzzedServer(): Promise<FuzzedServer> {
  const dir = mkdtempSync(join(tmpdir(), 'scrapifie-api-fuzz-'));
  const apiKey = 'fuzz-key-that-must-not-leak-0123456789';
  const vaultKey = '7e'.repeat(32);
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      PROGRAM,
      'serve',
      '--port',
      '0',
      '--data-dir',
      join(dir, 'data'),
    ],
    {
      cwd: dir,
      env: {
        PATH: process.env.PATH ?? '',
        SCRAPIFIE_API_KEY: apiKey,
        SCRAPIFIE_VAULT_KEY: vaultKey,
        SCRAPIFIE_RATE_LIMIT_PER_MINUTE: '100000000',
        SCRAPIFIE_LOG_LEVEL: 'error',
        // Browsers are attacked elsewhere; here every request that wants one is refused.
        SCRAPIFIE_BROWSER_PATH: join(dir, 'no-browser'),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  let exit: string | null = null;
  let said = '';
  child.once('exit', (code, signal) => {
    exit = `exit code ${code}, signal ${signal}`;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-100_000);
  });
  const closed = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const close = async () => {
    child.kill('SIGKILL');
    await closed;
    rmSync(dir, { recursive: true, force: true });
  };
  try {
    const port = await portOf(child);
    const ofProcess = (file: string) => `/proc/${child.pid}/${file}`;
    return {
      port,
      apiKey,
      secrets: [apiKey, vaultKey],
      exit: () => exit,
      stderr: () =>
        said
          .split('\n')
          .filter((line) => !line.startsWith('{'))
          .join('\n'),
      residentBytes: () =>
        Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(ofProcess('status'), 'utf8'))?.[1] ?? 0) * 1_024,
      mainThread() {
        const [used, waited] = readFileSync(ofProcess(`task/${child.pid}/schedstat`), 'utf8').split(' ');
        return { usedMs: Math.round(Number(used) / 1e6), waitedMs: Math.round(Number(waited) / 1e6) };
      },
      openFiles: () => readdirSync(ofProcess('fd')).length,
      keepTo: (cores) => void execFileSync('taskset', ['-acp', cores, String(child.pid)]),
      close,
    };
  } catch (error) {
    await close();
    throw new Error(`The server did not start: ${said}`, { cause: error });
  }
}

function portOf(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = '';
    const timer = setTimeout(() => reject(new Error(`no address within ${START_MS} ms`)), START_MS);
    const end = (error: Error | null, port = 0) => {
      clearTimeout(timer);
      if (error === null) resolve(port);
      else reject(error);
    };
    child.once('exit', () => end(new Error('it ended')));
    child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port !== undefined) end(null, Number(port));
    });
  });
}
