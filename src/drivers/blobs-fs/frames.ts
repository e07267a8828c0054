import { crc32 } from 'node:zlib';
import type { ContentHash } from '../../core/model/ids.ts';
import { decodeFrame, encodeFrame, isBody } from '../../core/model/page-record.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import { ImpossibleValue } from '../derived-file/derived-file.ts';
import type { PackIndex } from './pack-index.ts';
import type { PackMember, PackPosition, Packs } from './packs.ts';

/** Bodies put together are compressed together up to this size: to read one, its whole frame is decoded. */
const MOST_FRAME_BYTES = 524_288;
/** Frames that one put, and later reads, keep decoded: pages come again in about the order in which they were stored. */
const MOST_DECODED_FRAMES = 8;
/** Bodies of which is remembered that they are whole: 200 bytes each. */
const MOST_SEALS = 10_000;

/** Frames by their place in a pack; `bytes` is null where a frame is damaged. */
export type DecodedFrames = BoundedMap<string, { readonly bytes: Buffer | null }>;

export const newDecodedFrames = (): DecodedFrames => new BoundedMap(MOST_DECODED_FRAMES);

export interface Body {
  readonly key: Buffer;
  readonly bytes: Uint8Array;
}

/** Bodies in the frames of packs: written together, proven whole, and read. */
export class Frames {
  readonly #packs: Packs;
  readonly #index: Pick<PackIndex, 'addPack' | 'point'>;
  /** By the hash of a body: where it was found whole, with the checksum of the bytes that were decoded. */
  readonly #sealsOfWhole = new BoundedMap<ContentHash, string>(MOST_SEALS);
  /** Frames that were decoded last, with their checksums: bodies that are read one after the other were mostly put together. */
  readonly #framesRead: DecodedFrames = newDecodedFrames();

  constructor(packs: Packs, index: Pick<PackIndex, 'addPack' | 'point'>) {
    this.#packs = packs;
    this.#index = index;
  }

  /** Stores the bodies in as few frames as their size allows. */
  storeAll(bodies: readonly Body[]): void {
    let frame: Body[] = [];
    let frameBytes = 0;
    for (const body of bodies) {
      if (frameBytes + body.bytes.length > MOST_FRAME_BYTES) {
        this.#store(frame);
        frame = [];
        frameBytes = 0;
      }
      frame.push(body);
      frameBytes += body.bytes.length;
    }
    this.#store(frame);
  }

  /** Decodes a frame once to prove that the body is in it; later the checksum of the stored bytes is enough. */
  isWholeAt(place: PackPosition, hash: ContentHash, decoded: DecodedFrames): boolean {
    const stored = this.#packs.read(place.pack, place.offset, place.length);
    if (stored === null) return false;
    const seal = `${place.pack} ${place.offset} ${place.start} ${crc32(stored)}`;
    if (this.#sealsOfWhole.get(hash) === seal) return true;
    const frame = decoded.getOrCreate(`${place.pack} ${place.offset}`, () => ({
      bytes: decodeFrame(stored),
    }));
    const isWhole = bodyOf(frame.bytes, place, hash) !== null;
    if (isWhole) this.#sealsOfWhole.set(hash, seal);
    return isWhole;
  }

  bodyAt(place: PackPosition, hash: ContentHash): Buffer | null {
    const stored = this.#packs.read(place.pack, place.offset, place.length);
    if (stored === null) return null;
    const seal = `${place.pack} ${place.offset} ${crc32(stored)}`;
    let frame = this.#framesRead.get(seal)?.bytes ?? null;
    if (frame === null) {
      frame = decodeFrame(stored);
      // A frame of one body is given away with it.
      if (frame === null || frame.length === place.size) return bodyOf(frame, place, hash);
      this.#framesRead.set(seal, { bytes: frame });
    }
    const body = bodyOf(frame, place, hash);
    return body === null ? null : Buffer.from(new Uint8Array(body).buffer);
  }

  /** Writes bodies as one frame and points at them; all or none. */
  #store(bodies: readonly Body[]): void {
    if (bodies.length === 0) return;
    let start = 0;
    const members = bodies.map(({ key, bytes }) => {
      const member = { key, start, size: bytes.length };
      start += bytes.length;
      return member;
    });
    const frame = encodeFrame(bodies.map(({ bytes }) => bytes));
    // Twice: a compaction may have removed the pack that was being written.
    for (let attempt = 0; attempt < 2; attempt += 1) {
      const places = this.#packs.append(members, frame, (pack) => this.#index.addPack(pack));
      const isPointed = places.every((place, at) =>
        this.#index.point((members[at] as PackMember).key, place),
      );
      if (isPointed) return;
      this.#packs.leave((places[0] as PackPosition).pack);
    }
    throw new ImpossibleValue('it forgets its packs');
  }
}

function bodyOf(frame: Buffer | null, place: PackPosition, hash: ContentHash): Buffer | null {
  const bytes = frame?.subarray(place.start, place.start + place.size) ?? null;
  return bytes !== null && isBody(bytes, hash) ? bytes : null;
}
