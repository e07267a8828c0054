import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type Jobs, jobsBeside } from '../../capabilities/jobs/jobs.ts';
import { givenSettings, refuseFolderOfOthers } from '../../core/config/load.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { readSettings } from '../flags/flags.ts';
import type { OpenPlace, OpenStorage, Shell, StoragePlace } from '../shell/shell.ts';
import { type CrawlFolder, DATABASE_FILE, findCrawl, STATE_DIR } from './crawl-folder.ts';

/** A data folder and nothing but it. */
export const folderPlace = (dataDir: string): StoragePlace => ({
  dataDir,
  databasePool: 1,
  databaseUrl: undefined,
  s3Url: undefined,
  spillBytes: 0,
});

/**
 * The storage of a command: that of the settings, or the data folder named by --data-dir; the folder of a crawl means its
 * state.
 */
export function dataPlaceOf(shell: Shell, option: string | undefined): StoragePlace {
  if (option === undefined) {
    const { dataDir, databaseUrl, databasePool, s3Url, spillBytes } = readSettings(shell, {});
    const isFound = !givenSettings(shell.environment, shell.cwd).has('dataDir') && databaseUrl === undefined;
    if (isFound) refuseFolderOfOthers(dataDir);
    return { dataDir, databaseUrl, databasePool, s3Url, spillBytes };
  }
  const named = resolve(shell.cwd, option);
  const state = join(named, STATE_DIR);
  return folderPlace(existsSync(join(state, DATABASE_FILE)) ? state : named);
}

/** The place as messages name it. */
export function describePlace({ databaseUrl, dataDir }: StoragePlace): string {
  if (databaseUrl === undefined) return dataDir;
  const { host, pathname } = new URL(databaseUrl);
  return `${host}${pathname}`;
}

/** Opens a data folder that has a database; a command that only reads must not create one. */
export async function openExisting(shell: Shell, option: string | undefined): Promise<OpenPlace> {
  const place = dataPlaceOf(shell, option);
  requireDatabase(place);
  return shell.openStorage(place);
}

/** Throws DATA_DIR_UNUSABLE for a folder without a database: it is rather a name that was mistyped. */
export function requireDatabase({ dataDir, databaseUrl }: StoragePlace): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, DATABASE_FILE))) return;
  throw new ScrapifieError(
    'DATA_DIR_UNUSABLE',
    `${dataDir} has no database. Name a data folder or the folder of a crawl with --data-dir.`,
  );
}

export interface LocalJobs extends OpenStorage {
  readonly jobs: Jobs;
  readonly account: AccountId;
}

/** Runs an action on the jobs of a data folder, whether or not a server works there. */
export async function withJobs<T>(
  shell: Shell,
  option: string | undefined,
  action: (local: LocalJobs) => Promise<T>,
): Promise<T> {
  const storage = await openExisting(shell, option);
  const jobs = jobsBeside(storage);
  try {
    return await action({ ...storage, jobs, account: await storage.store.defaultAccount() });
  } finally {
    jobs.close();
    await storage.close();
  }
}

/** The job of this id; of "latest", the newest one. Throws NOT_FOUND. */
export async function jobNamed(id: string, jobs: Jobs, account: AccountId): Promise<Job> {
  if (id !== 'latest') return jobs.get(id, account);
  const [latest] = (await jobs.list({ accountId: account, limit: 1 })).items;
  if (latest === undefined) throw new ScrapifieError('NOT_FOUND', 'There are no jobs.');
  return latest;
}

/**
 * Where the session of a crawl is kept: in the data folder, where `scrape`, `login` and servers see it as well. Undefined
 * for a crawl without a session. A crawl that goes on has the session of its job, whatever the flags repeat; one that an
 * earlier version began has it in its own folder.
 */
export async function sessionPlace(
  shell: Shell,
  folder: CrawlFolder,
  flags: {
    readonly session?: string;
    readonly dataDir?: string;
    readonly resume?: true;
    readonly ifModified?: true;
  },
): Promise<StoragePlace | undefined> {
  const place = () => dataPlaceOf(shell, flags.dataDir);
  const wants = { resume: flags.resume === true, again: flags.ifModified === true };
  if (findCrawl(folder, wants) === 'new') return flags.session === undefined ? undefined : place();
  const { store, close } = await shell.openStorage(folderPlace(folder.stateDir));
  try {
    const account = await store.defaultAccount();
    const [job] = (await store.listJobs({ accountId: account, kind: 'crawl', limit: 1 })).items;
    const name = job?.options.page.session ?? flags.session ?? null;
    if (name === null || (await store.getSession(account, name)) !== null) return undefined;
    return place();
  } finally {
    await close();
  }
}
