import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ScrapifieError } from '../errors/scrapifie-error.ts';
import { createJobs, type Jobs } from '../jobs/jobs.ts';
import type { AccountId } from '../model/ids.ts';
import type { Bus } from '../ports/bus.ts';
import type { Queue } from '../ports/queue.ts';
import { DATABASE_FILE, STATE_DIR } from './crawl-folder.ts';
import { readSettings } from './flags.ts';
import type { OpenStorage, Shell } from './shell.ts';

/** The data folder a command means: of the settings, or by option; the folder of a crawl stands for its state. */
export function dataDirOf(shell: Shell, option: string | undefined): string {
  const named = option === undefined ? undefined : resolve(shell.cwd, option);
  if (named !== undefined && existsSync(join(named, STATE_DIR, DATABASE_FILE))) return join(named, STATE_DIR);
  return readSettings(shell, { dataDir: named }).dataDir;
}

/** Opens a folder that must have a database: looking at what is not there should not make it. */
export async function openExisting(shell: Shell, option: string | undefined): Promise<OpenStorage> {
  const dataDir = dataDirOf(shell, option);
  if (!existsSync(join(dataDir, DATABASE_FILE))) {
    throw new ScrapifieError(
      'DATA_DIR_UNUSABLE',
      `${dataDir} has no database. Name a data folder or the folder of a crawl with --data-dir.`,
    );
  }
  return shell.openStorage(dataDir);
}

export interface LocalJobs extends OpenStorage {
  readonly jobs: Jobs;
  readonly account: AccountId;
}

/** Nobody listens in this process: a server on the folder sees what changed when it looks into the store. */
const SILENT_BUS: Bus = {
  publish: () => undefined,
  subscribe: () => () => undefined,
  check: async () => undefined,
  close: async () => undefined,
};
const SILENT_QUEUE: Queue = {
  offer: async () => undefined,
  consume: async () => ({ stop: async () => undefined }),
  depth: async () => ({ waiting: 0, active: 0 }),
  check: async () => undefined,
  close: async () => undefined,
};

/** Runs an action on the jobs of a data folder, whether or not a server works there. */
export async function withJobs<T>(
  shell: Shell,
  option: string | undefined,
  action: (local: LocalJobs) => Promise<T>,
): Promise<T> {
  const storage = await openExisting(shell, option);
  const jobs = createJobs({
    store: storage.store,
    blobs: storage.blobs,
    bus: SILENT_BUS,
    queue: SILENT_QUEUE,
    now: Date.now,
    random: Math.random,
    maxQueuedUrls: Number.POSITIVE_INFINITY,
    consents: () => true,
  });
  try {
    return await action({ ...storage, jobs, account: await storage.store.defaultAccount() });
  } finally {
    jobs.close();
    await storage.close();
  }
}
