import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { CrawlRecorder } from '../../capabilities/archive/crawl-recorder.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Job } from '../../core/model/job.ts';
import type { CrawlFolder, RememberedCommand } from '../folders/crawl-folder.ts';
import type { OpenPlatform, Shell } from '../shell/shell.ts';

/** The flags that record a crawl into an archive, or answer it from one. */
export interface ArchiveFlags {
  readonly replay?: string | undefined;
  readonly warc?: string;
  readonly warcSize?: number;
}

/** Where a crawl is recorded. */
export interface Recording {
  readonly path: string;
  readonly maxFileBytes: number;
}

const MAX_FILE_BYTES = 1_000_000_000;

/**
 * The archives of the crawl: those of the command, or those that it was begun with. Throws INVALID_USAGE when the two
 * differ, and for a file that another crawl has written.
 */
export function archivesOf(
  cwd: string,
  { replay, warc, warcSize }: ArchiveFlags,
  begun: RememberedCommand | null,
): Pick<RememberedCommand, 'replay' | 'warc' | 'warcBytes'> {
  const given = {
    replay: replay === undefined ? undefined : resolve(cwd, replay),
    warc: warc === undefined ? undefined : resolve(cwd, warc),
  };
  if (warcSize !== undefined && warc === undefined && begun?.warc === undefined) {
    throw new ScrapifieError('INVALID_USAGE', '--warc-size is for crawls that --warc records.');
  }
  if (begun === null && given.warc !== undefined && /\.gz$/i.test(given.warc) && existsSync(given.warc)) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `${given.warc} is there already. Name another file with --warc.`,
    );
  }
  if (begun !== null && given.replay !== undefined && given.replay !== begun.replay) {
    const was = begun.replay === undefined ? 'from the web' : `from ${begun.replay}`;
    throw new ScrapifieError('INVALID_USAGE', `--replay: the crawl in this folder was begun ${was}.`);
  }
  if (begun?.warc !== undefined && given.warc !== undefined && given.warc !== begun.warc) {
    throw new ScrapifieError(
      'INVALID_USAGE',
      `--warc: the crawl in this folder is recorded into ${begun.warc}.`,
    );
  }
  const archives = { replay: given.replay ?? begun?.replay, warc: given.warc ?? begun?.warc };
  return { ...archives, warcBytes: warcSize ?? begun?.warcBytes };
}

export function recordingOf({
  warc,
  warcBytes,
}: Pick<RememberedCommand, 'warc' | 'warcBytes'>): Recording | null {
  return warc === undefined ? null : { path: warc, maxFileBytes: warcBytes ?? MAX_FILE_BYTES };
}

/** Records the crawl from here on, and what was stored of it before. */
export async function openRecording(
  { path, maxFileBytes }: Recording,
  platform: OpenPlatform,
  folder: CrawlFolder,
  job: Job,
  { version }: Pick<Shell, 'version'>,
): Promise<CrawlRecorder> {
  const [{ openCrawlRecorder }, { recordingPlace }] = await Promise.all([
    import('../../capabilities/archive/crawl-recorder.ts'),
    import('../../capabilities/archive/recording-place.ts'),
  ]);
  const place = recordingPlace(path, job.id);
  const { stateDir } = folder;
  const recorder = await openCrawlRecorder(platform, {
    place,
    stateDir,
    job,
    version,
    maxFileBytes,
    now: platform.now,
  });
  platform.observeExchanges(recorder);
  platform.watchPages((pages) => recorder.append(pages));
  return recorder;
}
