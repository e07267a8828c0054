import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { parseStoredSeed } from '../../crawl/frontier/canonical.ts';
import { cannotWrite } from '../output/screen.ts';

/** The files of a crawl. */
export interface CrawlFolder {
  readonly dir: string;
  /** Everything needed to go on; a data folder like a server's. */
  readonly stateDir: string;
  readonly pagesFile: string;
  /** Pictures, documents and recorded answers of pages; made when there is one. */
  readonly artifactsDir: string;
  readonly reportFile: string;
  readonly logFile: string;
  /** What of the command a crawl needs again and its job does not hold. */
  readonly commandFile: string;
}

export const STATE_DIR = '.scrapifie';
export const DATABASE_FILE = 'scrapifie.db';

export function crawlFolder(cwd: string, out: string | undefined, urls: readonly string[]): CrawlFolder {
  const dir = resolve(cwd, out ?? defaultOut(urls));
  const stateDir = join(dir, STATE_DIR);
  return {
    dir,
    stateDir,
    pagesFile: join(dir, 'pages.ndjson'),
    artifactsDir: join(dir, 'artifacts'),
    reportFile: join(dir, 'report.json'),
    logFile: join(stateDir, 'crawl.log'),
    commandFile: join(stateDir, 'command.json'),
  };
}

/** Returns a name after the host, such as `crawl-example.com` or `crawl-localhost-8080`. */
function defaultOut(urls: readonly string[]): string {
  const host = parseStoredSeed(urls[0] ?? '')?.host ?? '';
  if (host === '')
    throw new ScrapifieError('INVALID_USAGE', 'Without a URL, --out must name the folder of a crawl.');
  return `crawl-${host.replace(/[^a-z0-9.-]/gi, '-')}`;
}

/**
 * Whether the folder has a crawl to resume, or one that is to be crawled `again`. Throws INVALID_USAGE when its files
 * must not be overwritten.
 */
export function findCrawl(
  folder: CrawlFolder,
  wants: { readonly resume: boolean; readonly again: boolean },
): 'new' | 'existing' | 'again' {
  const hasState = existsSync(join(folder.stateDir, DATABASE_FILE));
  if (hasState && wants.resume) return 'existing';
  if (hasState && wants.again) return 'again';
  if (hasState) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${folder.dir} already has a crawl. Go on with it by --resume, ask for what changed by --if-modified, or name another folder with --out.`,
    );
  }
  if (existsSync(folder.pagesFile)) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${folder.dir} has the pages of a crawl whose state (${STATE_DIR}) is gone. Name another folder with --out.`,
    );
  }
  return 'new';
}

const rememberedSchema = z.object({
  allowPrivate: z.boolean().default(false),
  replay: z.string().optional(),
  warc: z.string().optional(),
  warcBytes: z.number().optional(),
});

/** The part of the command that a crawl needs again when it goes on. */
export type RememberedCommand = z.infer<typeof rememberedSchema>;

/** A crawl of private addresses that went on without this permission would fail all its URLs. */
export function rememberCommand({ commandFile }: CrawlFolder, command: RememberedCommand): void {
  try {
    writeFileSync(`${commandFile}.part`, `${JSON.stringify(command)}\n`);
    renameSync(`${commandFile}.part`, commandFile);
  } catch (error) {
    throw cannotWrite(commandFile, error);
  }
}

/** What the crawl of the folder was begun, or resumed, with. */
export function rememberedCommand({ commandFile }: CrawlFolder): RememberedCommand {
  try {
    return rememberedSchema.parse(JSON.parse(readFileSync(commandFile, 'utf8')));
  } catch {
    // The file is missing or damaged: private addresses stay refused.
    return { allowPrivate: false };
  }
}
