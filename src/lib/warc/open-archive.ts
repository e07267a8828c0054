import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type ByteSource, badArchive, openFile } from './byte-source.ts';
import { openEntry, readZip } from './zip-reader.ts';

/** The WARC files of an archive, in the order of their names. */
export interface OpenArchive {
  readonly files: readonly ByteSource[];
  close(): Promise<void>;
}

const WARC_NAME = /\.warc(?:\.gz)?$/i;
const WACZ_NAME = /\.wacz$/i;
const IN_WACZ = /^archive\/[^/]+\.warc(?:\.gz)?$/i;
const MAX_FILES = 10_000;

/**
 * Opens a WARC file, compressed or not, a WACZ file, or a folder of such files. Throws BAD_ARCHIVE where there is
 * none.
 */
export async function openArchive(path: string): Promise<OpenArchive> {
  const found = await stat(path).catch((error: Error) => {
    throw new ScrapifieError('BAD_ARCHIVE', `${path} cannot be read: ${error.message}`, { cause: error });
  });
  const opened: ByteSource[] = [];
  const close = async () => void (await Promise.all(opened.splice(0).map((each) => each.close())));
  try {
    const paths = found.isDirectory() ? await archivesIn(path) : [path];
    const files: ByteSource[] = [];
    for (const each of paths) {
      const source = await openFile(each);
      opened.push(source);
      const isZip = (await source.read(0, 2)).toString('latin1') === 'PK';
      files.push(...(isZip ? await filesOfWacz(source) : [source]));
      if (files.length > MAX_FILES) throw badArchive(source, 0, `more than ${MAX_FILES} files`);
    }
    return { files, close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function archivesIn(dir: string): Promise<string[]> {
  const names = (await readdir(dir)).filter((name) => WARC_NAME.test(name) || WACZ_NAME.test(name)).sort();
  if (names.length > 0) return names.slice(0, MAX_FILES).map((name) => join(dir, name));
  throw new ScrapifieError('BAD_ARCHIVE', `${dir} has no file that ends in .warc, .warc.gz or .wacz.`);
}

async function filesOfWacz(source: ByteSource): Promise<ByteSource[]> {
  const entries = (await readZip(source)).filter(({ name }) => IN_WACZ.test(name));
  if (entries.length === 0) throw badArchive(source, 0, 'a ZIP file without archive/*.warc.gz');
  const files: ByteSource[] = [];
  for (const entry of entries.toSorted((one, other) => (one.name < other.name ? -1 : 1))) {
    if (!entry.isStored) {
      throw badArchive(source, entry.offset, 'a WARC file in a WACZ must be stored without compression');
    }
    files.push(await openEntry(source, entry));
  }
  return files;
}
