import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type ByteSource, badArchive, openFile, partOf } from './byte-source.ts';

/** A file in a ZIP archive. Nothing is ever unpacked to a disk. */
export interface ZipEntry {
  readonly name: string;
  readonly bytes: number;
  readonly isStored: boolean;
  readonly storedBytes: number;
  /** Where the local header of the entry begins. */
  readonly offset: number;
}

const END_SIGNATURE = 0x06054b50;
const END64_SIGNATURE = 0x06064b50;
const LOCATOR64_SIGNATURE = 0x07064b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const MAX_COMMENT_BYTES = 65_535;
const MAX_DIRECTORY_BYTES = 67_108_864;
const MAX_ENTRIES = 100_000;
const MAX_32 = 0xffffffff;
const MAX_16 = 0xffff;

/** The entries of the archive. Throws BAD_ARCHIVE for what is none, and for names that lead out of it. */
export async function readZip(source: ByteSource): Promise<readonly ZipEntry[]> {
  const { count, offset, bytes } = await directoryOf(source);
  if (count > MAX_ENTRIES || bytes > MAX_DIRECTORY_BYTES) {
    throw badArchive(source, offset, 'its directory is too large');
  }
  const directory = await source.read(offset, bytes);
  if (directory.length < bytes) throw badArchive(source, offset, 'its directory is cut off');
  const entries: ZipEntry[] = [];
  let at = 0;
  for (let index = 0; index < count; index += 1) {
    if (at + 46 > directory.length || directory.readUInt32LE(at) !== ENTRY_SIGNATURE) {
      throw badArchive(source, offset + at, 'its directory is damaged');
    }
    const nameBytes = directory.readUInt16LE(at + 28);
    const extraBytes = directory.readUInt16LE(at + 30);
    const end = at + 46 + nameBytes + extraBytes + directory.readUInt16LE(at + 32);
    if (end > directory.length) throw badArchive(source, offset + at, 'its directory is cut off');
    entries.push(entryOf(source, directory.subarray(at, end), nameBytes, extraBytes));
    at = end;
  }
  return entries;
}

function entryOf(source: ByteSource, row: Buffer, nameBytes: number, extraBytes: number): ZipEntry {
  const name = row.toString('utf8', 46, 46 + nameBytes);
  const method = row.readUInt16LE(10);
  const isEncrypted = (row.readUInt16LE(8) & 1) !== 0;
  const sizes = sizesOf(row, 46 + nameBytes, extraBytes);
  const leadsOut = /(?:^|[\\/])\.\.(?:[\\/]|$)|^[\\/]|^[a-z]:|\0/i.test(name);
  if (leadsOut) throw badArchive(source, sizes.offset, 'a name in it leads out of the archive');
  if (isEncrypted || (method !== 0 && method !== 8)) {
    throw badArchive(source, sizes.offset, `${name.slice(0, 100)} is encrypted or packed in an unknown way`);
  }
  if (sizes.offset + sizes.storedBytes > source.size) {
    throw badArchive(source, sizes.offset, `${name.slice(0, 100)} is longer than the file`);
  }
  return { name, isStored: method === 0, ...sizes };
}

/** ZIP64 keeps what does not fit into 32 bits in an extra field, in this order. */
function sizesOf(row: Buffer, extraAt: number, extraBytes: number) {
  let bytes = row.readUInt32LE(24);
  let storedBytes = row.readUInt32LE(20);
  let offset = row.readUInt32LE(42);
  let at = extraAt;
  while (at + 4 <= extraAt + extraBytes) {
    const length = row.readUInt16LE(at + 2);
    if (row.readUInt16LE(at) === 1) {
      let field = at + 4;
      const next = () => {
        const value = field + 8 <= row.length ? Number(row.readBigUInt64LE(field)) : 0;
        field += 8;
        return value;
      };
      if (bytes === MAX_32) bytes = next();
      if (storedBytes === MAX_32) storedBytes = next();
      if (offset === MAX_32) offset = next();
    }
    at += 4 + length;
  }
  return { bytes, storedBytes, offset };
}

async function directoryOf(source: ByteSource): Promise<{ count: number; offset: number; bytes: number }> {
  const tailBytes = Math.min(source.size, END_BYTES + MAX_COMMENT_BYTES);
  const tail = await source.read(source.size - tailBytes, tailBytes);
  for (let at = tail.length - END_BYTES; at >= 0; at -= 1) {
    if (tail.readUInt32LE(at) !== END_SIGNATURE) continue;
    const found = {
      count: tail.readUInt16LE(at + 10),
      bytes: tail.readUInt32LE(at + 12),
      offset: tail.readUInt32LE(at + 16),
    };
    const isLarge = found.count === MAX_16 || found.bytes === MAX_32 || found.offset === MAX_32;
    return isLarge ? directory64Of(source, source.size - tailBytes + at) : found;
  }
  throw badArchive(source, 0, 'no ZIP archive, or one that is cut off');
}

async function directory64Of(source: ByteSource, endAt: number) {
  const locator = await source.read(Math.max(0, endAt - 20), 20);
  if (locator.length < 20 || locator.readUInt32LE(0) !== LOCATOR64_SIGNATURE) {
    throw badArchive(source, endAt, 'the end of a ZIP64 archive is missing');
  }
  const at = Number(locator.readBigUInt64LE(8));
  const end = await source.read(at, 56);
  if (end.length < 56 || end.readUInt32LE(0) !== END64_SIGNATURE) {
    throw badArchive(source, at, 'the end of a ZIP64 archive is damaged');
  }
  return {
    count: Number(end.readBigUInt64LE(32)),
    bytes: Number(end.readBigUInt64LE(40)),
    offset: Number(end.readBigUInt64LE(48)),
  };
}

/** The bytes of an entry as they lie in the archive. */
export async function openEntry(source: ByteSource, entry: ZipEntry): Promise<ByteSource> {
  const local = await source.read(entry.offset, 30);
  if (local.length < 30 || local.readUInt32LE(0) !== LOCAL_SIGNATURE) {
    throw badArchive(source, entry.offset, `${entry.name.slice(0, 100)} is not where the directory says`);
  }
  const start = entry.offset + 30 + local.readUInt16LE(26) + local.readUInt16LE(28);
  if (start + entry.storedBytes > source.size) {
    throw badArchive(source, entry.offset, `${entry.name.slice(0, 100)} is cut off`);
  }
  return partOf(source, `${source.name}#${entry.name}`, start, entry.storedBytes);
}

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
