import { existsSync, rmdirSync, rmSync } from 'node:fs';
import type { ErrorCode } from '../../core/errors/registry.ts';
import type { CrawlFolder } from '../folders/crawl-folder.ts';
import type { CrawlReport } from './crawl-report.ts';

/** Codes that say that a page was not even asked for, and that the command or the settings decide about that. */
const REFUSALS: ReadonlySet<ErrorCode> = new Set([
  'ADDRESS_REFUSED',
  'CONSENT_REQUIRED',
  'DOMAIN_DENIED',
  'INVALID_URL',
  'NO_BROWSER',
  'UNSUPPORTED_OPTION',
]);

/**
 * Remembers what is in the folder before a crawl begins there. Returns what removes the files of the crawl again, so
 * that the next try can use the same folder; other files of the folder stay.
 */
export function watchFolder(folder: CrawlFolder): () => void {
  const { dir, stateDir, pagesFile, reportFile, artifactsDir } = folder;
  const wasThere = existsSync(dir);
  const hadArtifacts = existsSync(artifactsDir);
  return () => {
    for (const path of [stateDir, pagesFile, reportFile]) rmSync(path, { recursive: true, force: true });
    if (!hadArtifacts) rmSync(artifactsDir, { recursive: true, force: true });
    if (wasThere) return;
    try {
      rmdirSync(dir);
    } catch {
      // Another program has put a file into the folder meanwhile.
    }
  };
}

/** Whether every start of the crawl was refused before anything was asked for, so that there is nothing to go on with. */
export function isRefusedCrawl({ status, pages, bytes, failed, denied, failures }: CrawlReport): boolean {
  // Some denials are those of a robots.txt, which was asked for: the report has them.
  if (status !== 'failed' || pages > 0 || bytes > 0 || denied > 0) return false;
  const codes = Object.keys(failures?.codes ?? {}) as ErrorCode[];
  return failed > 0 && codes.every((code) => REFUSALS.has(code));
}
