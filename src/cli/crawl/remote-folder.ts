import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type CrawlFolder, findCrawl } from '../folders/crawl-folder.ts';
import { cannotWrite } from '../output/cannot-write.ts';

/** A crawl that a server works on, and whose pages are written to a folder here. */
export interface RemoteCrawl {
  readonly api: string;
  readonly jobId: string;
}

const pathOf = ({ stateDir }: CrawlFolder) => join(stateDir, 'server.json');

/**
 * The crawl of the folder; null when there is none yet. Throws INVALID_USAGE when the folder has one and is not to go on,
 * has one of this machine, or one of another server.
 */
export function findRemoteCrawl(folder: CrawlFolder, wantsResume: boolean, api: string): RemoteCrawl | null {
  const path = pathOf(folder);
  if (!existsSync(path)) {
    if (findCrawl(folder, { resume: wantsResume, again: false }) === 'new') return null;
    throw new ScrapifieError(
      'INVALID_USAGE',
      `The crawl in ${folder.dir} was begun without a server. Go on without --api, or name another folder with --out.`,
    );
  }
  if (!wantsResume) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${folder.dir} already has a crawl. Go on with it by --resume, or name another folder with --out.`,
    );
  }
  const found = JSON.parse(readFileSync(path, 'utf8')) as RemoteCrawl;
  if (found.api === api) return found;
  throw new ScrapifieError(
    'INVALID_USAGE',
    `The crawl in ${folder.dir} was begun on another server, ${found.api}. Name that one with --api.`,
  );
}

/** Throws INVALID_USAGE for the folder of a crawl that a server works on: only that one can go on with it. */
export function refuseRemoteFolder(folder: CrawlFolder): void {
  const path = pathOf(folder);
  if (!existsSync(path)) return;
  const { api } = JSON.parse(readFileSync(path, 'utf8')) as RemoteCrawl;
  throw new ScrapifieError(
    'INVALID_USAGE',
    `The crawl in ${folder.dir} was begun on the server ${api}. Name it with --api, or another folder with --out.`,
  );
}

export function writeRemoteCrawl(folder: CrawlFolder, crawl: RemoteCrawl): void {
  try {
    mkdirSync(folder.stateDir, { recursive: true });
    writeFileSync(pathOf(folder), `${JSON.stringify(crawl)}\n`);
  } catch (error) {
    throw cannotWrite(folder.stateDir, error);
  }
}
