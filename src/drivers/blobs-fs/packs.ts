import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  fdatasyncSync,
  fstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { PRIVATE_FILE, PRIVATE_FOLDER } from '../../core/config/private-files.ts';
import { errnoOf } from './disk-error.ts';

/** Where a body lies: in which frame of which pack, and where in the frame once that is decoded. */
export interface PackPosition {
  readonly pack: string;
  readonly offset: number;
  readonly length: number;
  readonly start: number;
  readonly size: number;
}

/** A body within a frame that is to be written. */
export interface PackMember {
  readonly key: Buffer;
  readonly start: number;
  readonly size: number;
}

const TAG = Buffer.from('SFB1', 'latin1');
/** Before each frame: tag, its length, how many bodies, and of each the SHA-256, start and size. */
const HEAD_BYTES = 4 + 4 + 4;
const MEMBER_BYTES = 32 + 4 + 4;
const FULL_PACK_BYTES = 268_435_456;
const MOST_OPEN_FILES = 16;
const NAME = /^[0-9a-f]{24}\.pack$/;

export const isPackName = (name: string): boolean => NAME.test(name);

/**
 * Append-only files of bodies. Each writer has a pack of its own, so threads and processes never write to the same
 * one; a body costs a write at the end of an open file instead of a file of its own, which some file systems take
 * ten times as long for. What a crash leaves half written at the end of a pack is never pointed at.
 */
export class Packs {
  readonly dir: string;
  readonly #files = new Map<string, number>();
  #own: { readonly pack: string; readonly file: number; end: number } | null = null;
  /** Packs whose names are synced. */
  readonly #named = new Set<string>();
  /** By pack, the sync under way and the one that follows it. */
  readonly #syncs = new Map<string, { readonly running: Promise<void>; next: Promise<void> | null }>();

  constructor(dir: string) {
    this.dir = dir;
    mkdirSync(dir, { recursive: true, mode: PRIVATE_FOLDER });
  }

  /** Writes one frame at the end of this writer's pack. `onNew` is called with a pack before its file exists. */
  append(members: readonly PackMember[], frame: Uint8Array, onNew: (pack: string) => void): PackPosition[] {
    if (this.#own !== null && this.#own.end >= FULL_PACK_BYTES) {
      // A later sync only covers the pack that is open then.
      this.sync();
      this.#own = null;
    }
    this.#own ??= this.#create(onNew);
    const own = this.#own;
    const head = Buffer.allocUnsafe(HEAD_BYTES + members.length * MEMBER_BYTES);
    TAG.copy(head);
    head.writeUInt32LE(frame.length, 4);
    head.writeUInt32LE(members.length, 8);
    let at = HEAD_BYTES;
    for (const { key, start, size } of members) {
      key.copy(head, at);
      head.writeUInt32LE(start, at + 32);
      head.writeUInt32LE(size, at + 36);
      at += MEMBER_BYTES;
    }
    // At a position of our own counting: what a failed write left there is written over.
    writeAll(own.file, Buffer.concat([head, frame]), own.end);
    const offset = own.end + head.length;
    own.end = offset + frame.length;
    return members.map(({ start, size }) => ({ pack: own.pack, offset, length: frame.length, start, size }));
  }

  /** Begins a new pack with the next body, if this is the one being written. */
  leave(pack: string): void {
    if (this.#own?.pack === pack) this.#own = null;
  }

  /** Whether the pack being written still has its name: what goes into one that was deleted is lost. */
  isInPlace(): boolean {
    if (this.#own === null) return true;
    const named = statSync(this.#pathOf(this.#own.pack), { throwIfNoEntry: false });
    return named?.ino === fstatSync(this.#own.file).ino;
  }

  sync(): void {
    if (this.#own !== null) fdatasyncSync(this.#own.file);
  }

  /**
   * Resolves when what a pack holds now, and its name, would survive a power failure. The thread goes on meanwhile; calls
   * that come during a sync share the next one. A pack that is gone holds nothing.
   */
  synced(pack: string): Promise<void> {
    const known = this.#syncs.get(pack);
    if (known !== undefined) {
      known.next ??= known.running.catch(() => undefined).then(() => this.#beginSync(pack));
      return known.next;
    }
    return this.#beginSync(pack);
  }

  #beginSync(pack: string): Promise<void> {
    const running = this.#sync(pack);
    const entry = { running, next: null };
    this.#syncs.set(pack, entry);
    const done = () => {
      if (this.#syncs.get(pack) === entry && entry.next === null) this.#syncs.delete(pack);
    };
    running.then(done, done);
    return running;
  }

  async #sync(pack: string): Promise<void> {
    await syncPath(this.#pathOf(pack));
    if (this.#named.has(pack)) return;
    await syncPath(this.dir);
    this.#named.add(pack);
  }

  /** Bytes of a pack; null when it is gone or ends before. */
  read(pack: string, offset: number, length: number): Buffer | null {
    const file = this.#open(pack);
    if (file === null) return null;
    const bytes = Buffer.allocUnsafe(length);
    let read = 0;
    while (read < length) {
      const got = readSync(file, bytes, read, length - read, offset + read);
      if (got === 0) return null;
      read += got;
    }
    return bytes;
  }

  sizeOf(pack: string): number {
    const file = this.#open(pack);
    return file === null ? 0 : fstatSync(file).size;
  }

  remove(pack: string): void {
    const file = this.#files.get(pack);
    if (file !== undefined) closeSync(file);
    this.#files.delete(pack);
    this.#named.delete(pack);
    if (this.#own?.pack === pack) this.#own = null;
    rmSync(this.#pathOf(pack), { force: true });
  }

  /** How long ago the pack was last written to; 0 when it is gone. */
  idleMs(pack: string, now: number): number {
    const named = statSync(this.#pathOf(pack), { throwIfNoEntry: false });
    return named === undefined ? 0 : now - named.mtimeMs;
  }

  names(): string[] {
    return readdirSync(this.dir).filter(isPackName);
  }

  /** Every body of a pack by the heads, from where a frame begins up to where the pack ends or makes no sense. */
  *scan(pack: string, from = 0): Generator<{ key: Buffer; place: PackPosition }> {
    const size = this.sizeOf(pack);
    for (let at = from; at + HEAD_BYTES <= size; ) {
      const head = this.read(pack, at, HEAD_BYTES);
      if (head === null || !head.subarray(0, 4).equals(TAG)) return;
      const length = head.readUInt32LE(4);
      const count = head.readUInt32LE(8);
      const offset = at + HEAD_BYTES + count * MEMBER_BYTES;
      if (offset + length > size) return;
      const members = this.read(pack, at + HEAD_BYTES, count * MEMBER_BYTES);
      if (members === null) return;
      for (let next = 0; next < members.length; next += MEMBER_BYTES) {
        const start = members.readUInt32LE(next + 32);
        const bodySize = members.readUInt32LE(next + 36);
        yield {
          key: members.subarray(next, next + 32),
          place: { pack, offset, length, start, size: bodySize },
        };
      }
      at = offset + length;
    }
  }

  close(): void {
    for (const file of this.#files.values()) closeSync(file);
    this.#files.clear();
    this.#own = null;
  }

  #create(onNew: (pack: string) => void) {
    const pack = `${randomBytes(12).toString('hex')}.pack`;
    onNew(pack);
    const file = openSync(
      this.#pathOf(pack),
      constants.O_CREAT | constants.O_EXCL | constants.O_RDWR,
      PRIVATE_FILE,
    );
    this.#keepOpen(pack, file);
    return { pack, file, end: 0 };
  }

  #open(pack: string): number | null {
    const known = this.#files.get(pack);
    if (known !== undefined) return known;
    try {
      const file = openSync(this.#pathOf(pack), 'r');
      this.#keepOpen(pack, file);
      return file;
    } catch (error) {
      if (errnoOf(error) === 'ENOENT') return null;
      throw error;
    }
  }

  #keepOpen(pack: string, file: number): void {
    for (const [other, otherFile] of this.#files) {
      if (this.#files.size < MOST_OPEN_FILES) break;
      if (other === this.#own?.pack) continue;
      closeSync(otherFile);
      this.#files.delete(other);
    }
    this.#files.set(pack, file);
  }

  #pathOf(pack: string): string {
    return join(this.dir, pack);
  }
}

/** By a handle of its own: one that is kept for reading may be closed meanwhile. */
async function syncPath(path: string): Promise<void> {
  try {
    const file = await open(path, 'r');
    try {
      await file.datasync();
    } finally {
      await file.close();
    }
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
}

function writeAll(file: number, bytes: Uint8Array, position: number): void {
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written, bytes.length - written, position + written);
  }
}
