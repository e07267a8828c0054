import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { CrawlRequest } from '../capabilities/jobs/request/job-request.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { JobId } from '../core/model/ids.ts';

const positionSchema = z.object({
  /** Hash of the request that the crawl was begun with, without its limits. */
  request: z.string(),
  /** Where the list of pages goes on, and how many pages behind that the loop has handled. */
  cursor: z.string().optional(),
  taken: z.number(),
  /** The loop has had everything, the failed URLs included. */
  isComplete: z.boolean(),
});

/** How far the loop of a crawl has come. */
export type CrawlPosition = z.infer<typeof positionSchema>;

/** Keeps the position in the data folder, so that a crawl that goes on gives no page twice. */
export interface PositionFile {
  /** Null when the folder has none for the crawl. */
  read(): CrawlPosition | null;
  /** Written when the loop asks for the next page: a page whose handling a crash interrupted is given again. */
  write(position: CrawlPosition): void;
}

export function positionFile(dataDir: string, jobId: JobId): PositionFile {
  const folder = join(dataDir, 'positions');
  const path = join(folder, `${jobId}.json`);
  return {
    read() {
      try {
        return positionSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
      } catch {
        return null;
      }
    },
    write(position) {
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(`${path}.part`, JSON.stringify(position), { mode: 0o600 });
        renameSync(`${path}.part`, path);
      } catch (error) {
        const message = `The position of the crawl cannot be written to ${path}: ${(error as Error).message}`;
        throw new ScrapifieError('DATA_DIR_UNUSABLE', message, { cause: error });
      }
    },
  };
}

/** Limits may change when a crawl goes on; URLs have been judged by everything else. */
export function requestHash(request: CrawlRequest, rate: unknown): string {
  const { maxPages, maxBytes, maxDurationMs, maxBrowserMs, maxProxyBytes, maxCredits, ...fixed } = request;
  return createHash('sha256')
    .update(JSON.stringify([fixed, rate ?? null]))
    .digest('hex');
}
