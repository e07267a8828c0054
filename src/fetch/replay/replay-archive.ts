import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type ByteSource, partOf } from '../../lib/warc/byte-source.ts';
import type { Capture, ReplayIndex } from './replay-index.ts';

/** An archive that was opened: its files, and where each URL lies in them. */
export interface ReplayArchive {
  readonly index: ReplayIndex;
  readonly files: readonly ByteSource[];
}

export const notInArchive = (message: string): ScrapifieError =>
  new ScrapifieError('NOT_IN_ARCHIVE', message);

/** The file of the record, up to its end: no more is read than there is of it. */
export function fileOf({ files }: ReplayArchive, { file, url, offset, length }: Capture): ByteSource {
  const source = files[file];
  if (source === undefined) throw notInArchive(`${url.slice(0, 500)} is in a file that is not open.`);
  return partOf(source, source.name, 0, offset + length);
}
