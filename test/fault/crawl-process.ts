import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface CrawlProcessOptions {
  readonly dir: string;
  /** One job per seed; only the first process on a folder makes them. */
  readonly seeds: readonly string[];
  readonly policy: string;
  readonly concurrency?: number;
}

/** One life of a crawl. */
export interface CrawlProcess {
  readonly pid: number;
  /** Resolves when jobs are there and being worked on; also when the process ends before. */
  readonly working: Promise<void>;
  /** How it ended. Throws when it failed by itself. */
  readonly ended: Promise<'finished' | 'killed'>;
  /** `kill -9`; resolves when the process is gone. */
  kill(): Promise<void>;
}

const CHILD = fileURLToPath(new URL('crawl-child.ts', import.meta.url));

export function startCrawl({ dir, seeds, policy, concurrency }: CrawlProcessOptions): CrawlProcess {
  const args = [CHILD, '--dir', dir, '--policy', policy, ...seeds.flatMap((seed) => ['--seed', seed])];
  if (concurrency !== undefined) args.push('--concurrency', String(concurrency));
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  child.stderr?.on('data', (piece: Buffer) => {
    said = (said + piece.toString()).slice(-10_000);
  });
  let isFinished = false;
  const exited = new Promise<NodeJS.Signals | null>((resolve) => {
    child.once('exit', (_, signal) => resolve(signal));
  });
  const working = new Promise<void>((resolve) => {
    if (child.stdout === null) return resolve();
    createInterface(child.stdout).on('line', (line) => {
      isFinished ||= line === 'finished';
      resolve();
    });
    void exited.then(() => resolve());
  });
  const closed = new Promise<void>((resolve) => {
    child.once('close', () => resolve());
  });
  const ended = exited.then(async (signal) => {
    await closed;
    if (isFinished) return 'finished' as const;
    if (signal === 'SIGKILL') return 'killed' as const;
    throw new Error(`The crawl ended by itself:\n${said}`);
  });
  return {
    pid: child.pid ?? 0,
    working,
    ended,
    async kill() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
