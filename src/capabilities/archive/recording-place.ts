import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { appendFile, open, readFile, truncate } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { openFile } from '../../lib/warc/byte-source.ts';
import { scanRecords } from '../../lib/warc/read-records.ts';
import { firstValue } from '../../lib/warc/warc-record.ts';
import { PAGE_FACTS_TYPE } from './exchange-records.ts';

/** Which files a crawl is recorded into: one file with numbered ones after it, or numbered ones in a folder. */
export interface RecordingPlace {
  readonly path: string;
  fileAt(index: number): string;
}

const FILE_NAME = /\.warc\.gz$/i;
const ID_BYTES = 16;

/**
 * Throws INVALID_USAGE for a name that is neither a folder nor ends in .warc.gz, and DATA_DIR_UNUSABLE when the folder
 * cannot be made.
 */
export function recordingPlace(path: string, jobId: string): RecordingPlace {
  const isFile = FILE_NAME.test(path);
  const isFolder = existsSync(path) ? statSync(path).isDirectory() : !/\.(?:warc|wacz|gz|zip)$/i.test(path);
  if (isFile === isFolder) {
    const message = `${path} is neither a folder nor the name of a file that ends in .warc.gz.`;
    throw new ScrapifieError('INVALID_USAGE', message);
  }
  const stem = isFile ? basename(path).replace(FILE_NAME, '') : jobId;
  const dir = isFile ? dirname(path) : path;
  try {
    mkdirSync(dir, { recursive: true });
  } catch (error) {
    const message = `${dir} cannot be made: ${(error as Error).message}`;
    throw new ScrapifieError('DATA_DIR_UNUSABLE', message, { cause: error });
  }
  return {
    path,
    fileAt: (index) => {
      const number = isFile && index === 0 ? '' : `-${String(index).padStart(5, '0')}`;
      return join(dir, `${stem}${number}.warc.gz`);
    },
  };
}

const stateSchema = z.object({
  jobId: z.string(),
  path: z.string(),
  /** The file that grows, its size, and the ids that were written by then. */
  file: z.number().int().nonnegative(),
  bytes: z.number().int().nonnegative(),
  ids: z.number().int().nonnegative(),
});
export type RecordingState = z.infer<typeof stateSchema>;

/**
 * How far a recording has come, kept beside the state of the crawl. It is a hint: a process may be killed between the
 * publication of records and this note, so the records behind it are read at the next start.
 */
export interface RecordingNotes {
  /** Null when nothing was recorded in this folder. */
  read(): RecordingState | null;
  /** Notes the ids that were added since, and where the files stand. */
  write(state: Omit<RecordingState, 'ids'>, newIds: readonly string[]): Promise<void>;
}

export function recordingNotes(stateDir: string): RecordingNotes & { readonly idFile: string } {
  const path = join(stateDir, 'recording.json');
  const idFile = join(stateDir, 'recording.ids');
  let count = 0;
  return {
    idFile,
    read() {
      try {
        const state = stateSchema.parse(JSON.parse(readFileSync(path, 'utf8')));
        count = state.ids;
        return state;
      } catch {
        return null;
      }
    },
    async write(state, newIds) {
      if (newIds.length > 0) await appendFile(idFile, Buffer.concat(newIds.map(idBytes)));
      count += newIds.length;
      writeFileSync(`${path}.part`, `${JSON.stringify({ ...state, ids: count })}\n`);
      renameSync(`${path}.part`, path);
    },
  };
}

export interface Found {
  readonly ids: RecordIds;
  /** The number of the last file that is there; 0 when there is none. */
  readonly file: number;
  /** Names of the files that the notes do not have yet. */
  readonly unnoted: readonly string[];
}

/** What the files of the recording hold: by the notes, and by the records behind them. */
export async function findRecorded(
  place: RecordingPlace,
  state: RecordingState | null,
  idFile: string,
): Promise<Found> {
  const ids = new RecordIds();
  const noted = state === null ? null : await notedIds(idFile, state.ids);
  const isUsable = noted !== null && state !== null && sizeOf(place.fileAt(state.file)) >= state.bytes;
  if (isUsable) {
    for (let at = 0; at < noted.length; at += ID_BYTES)
      ids.add(idFromBytes(noted.subarray(at, at + ID_BYTES)));
    // What a killed process appended to the list and did not count.
    await truncate(idFile, noted.length);
  } else await open(idFile, 'w').then((file) => file.close());
  const unnoted: string[] = [];
  let file = isUsable ? state.file : 0;
  for (let index = file; existsSync(place.fileAt(index)); index += 1) {
    file = index;
    const from = isUsable && index === state.file ? state.bytes : 0;
    for await (const id of factIds(place.fileAt(index), from)) if (ids.add(id)) unnoted.push(id);
  }
  return { ids, file, unnoted };
}

async function notedIds(path: string, count: number): Promise<Buffer | null> {
  const bytes = await readFile(path).catch(() => null);
  if (bytes === null || bytes.length < count * ID_BYTES) return count === 0 ? Buffer.alloc(0) : null;
  return bytes.subarray(0, count * ID_BYTES);
}

const sizeOf = (path: string): number => (existsSync(path) ? statSync(path).size : 0);

/** Each exchange has one such record. */
async function* factIds(path: string, from: number): AsyncGenerator<string> {
  const source = await openFile(path);
  try {
    for await (const { fields } of scanRecords(source, from)) {
      if (firstValue(fields['content-type']) !== PAGE_FACTS_TYPE) continue;
      yield firstValue(fields['warc-record-id']) ?? '';
    }
  } finally {
    await source.close();
  }
}

const FIRST_SLOTS = 1_024;
const DIGITS = 13;
const EMPTY = -1;
const UUID = /([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})/;

/**
 * The ids of records that a file has, in at most 32 bytes each. Of the 122 free bits of an id 104 are compared, so that
 * two ids among a billion are the same by chance of 1 in 10^13.
 */
export class RecordIds {
  #size = 0;
  #slots = new Float64Array(FIRST_SLOTS * 2).fill(EMPTY);

  get size(): number {
    return this.#size;
  }

  /** False when it is there already. */
  add(id: string): boolean {
    const [high, low] = halvesOf(id);
    if (!this.#insert(high, low)) return false;
    if (this.#size * 4 > this.#slots.length) this.#grow();
    return true;
  }

  has(id: string): boolean {
    const [high, low] = halvesOf(id);
    return this.#slots[this.#slotOf(high, low)] !== EMPTY;
  }

  /** The slot that has the id, or the free one where it belongs. */
  #slotOf(high: number, low: number): number {
    const slots = this.#slots;
    let at = (high % (slots.length / 2)) * 2;
    while (slots[at] !== EMPTY && (slots[at] !== high || slots[at + 1] !== low)) at = (at + 2) % slots.length;
    return at;
  }

  #insert(high: number, low: number): boolean {
    const at = this.#slotOf(high, low);
    if (this.#slots[at] !== EMPTY) return false;
    this.#slots[at] = high;
    this.#slots[at + 1] = low;
    this.#size += 1;
    return true;
  }

  #grow(): void {
    const kept = this.#slots;
    this.#slots = new Float64Array(kept.length * 2).fill(EMPTY);
    this.#size = 0;
    for (let at = 0; at < kept.length; at += 2) {
      const [high = EMPTY, low = EMPTY] = [kept[at], kept[at + 1]];
      if (high !== EMPTY) this.#insert(high, low);
    }
  }
}

function halvesOf(id: string): readonly [high: number, low: number] {
  const hex = UUID.exec(id)?.slice(1).join('') ?? '';
  return [Number.parseInt(hex.slice(0, DIGITS), 16) || 0, Number.parseInt(hex.slice(-DIGITS), 16) || 0];
}

/** 16 bytes, for keeping ids on a disk. */
export const idBytes = (id: string): Buffer => Buffer.from(UUID.exec(id)?.slice(1).join('') ?? '', 'hex');

export function idFromBytes(bytes: Buffer): string {
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
