import { createHash, hash } from 'node:crypto';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import { z } from 'zod';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/**
 * A backup is one line that names the format, and parts after it. A part is
 *
 *   4 bytes   length of the header
 *   header    JSON: number of the part, what it holds, and the lengths of its payload
 *   payload   a zstd frame; of bodies and rows
 *   32 bytes  SHA-256 of header and payload
 *
 * The first part says what the backup is of, the last one what it must have held. So a backup is written and read in one
 * pass, a part in memory at a time, and one that was cut off has no last part.
 */
const MAGIC = Buffer.from('scrapifie-backup 1\n');
const ANY_FORMAT = /^scrapifie-backup (\d+)\n/;
const MOST_HEADER_BYTES = 8_388_608;
/** A part holds one body, or several that are shorter than this together. */
const MOST_PAYLOAD_BYTES = 1_610_612_736;
const CHECKSUM_BYTES = 32;
const COMPRESSION = { params: { [constants.ZSTD_c_compressionLevel]: 3 } };

const count = z.int().nonnegative();
const hashText = z.string().regex(/^[0-9a-f]{64}$/);
const name = z.string().min(1).max(200);
const table = z.object({ name, columns: z.array(name).min(1).max(1_000), lastNumber: count.nullable() });

const beginSchema = z.object({
  kind: z.literal('begin'),
  id: z.uuid(),
  createdAt: count,
  program: z.string().max(100),
  profile: z.enum(['sqlite', 'postgres']),
  schema: z.object({ sqlite: count, postgres: count }),
  tables: z.array(table).max(10_000),
  vault: z.object({
    /** Id of the key that seals; null when the installation has no vault. */
    keyId: z.string().max(100).nullable(),
    /** The keys themselves, the one that seals first; null unless they were asked for. */
    keys: z.array(z.string().max(100)).max(1_000).nullable(),
  }),
});
const rowsSchema = z.object({ kind: z.literal('rows'), table: name, rows: count.max(1_000_000) });
const bodiesSchema = z.object({
  kind: z.literal('bodies'),
  bodies: z.array(z.object({ hash: hashText, size: count })).max(100_000),
});
const absentSchema = z.object({ kind: z.literal('absent'), hashes: z.array(hashText).max(100_000) });
const endSchema = z.object({
  kind: z.literal('end'),
  tables: z.record(name, z.object({ rows: count, digest: hashText })),
  bodies: z.object({ count, bytes: count, absent: count }),
  /** Number and hash of all that the rows refer to: the bodies, and what was absent. */
  references: z.object({ rows: count, digest: hashText }),
  /** SHA-256 of the checksums of all parts before. */
  checksums: hashText,
});
const headerSchema = z.intersection(
  z.object({ part: count, rawBytes: count, storedBytes: count }),
  z.discriminatedUnion('kind', [beginSchema, rowsSchema, bodiesSchema, absentSchema, endSchema]),
);

/** What an installation comes to. */
export type Figures = Pick<z.infer<typeof endSchema>, 'tables' | 'bodies'>;
export type BackupBegin = z.infer<typeof beginSchema>;
export type BackupEnd = z.infer<typeof endSchema>;
export type PartContent =
  | BackupBegin
  | z.infer<typeof rowsSchema>
  | z.infer<typeof bodiesSchema>
  | z.infer<typeof absentSchema>
  | BackupEnd;
export type BackupPart = PartContent & { readonly payload: Buffer };

const NOTHING = Buffer.alloc(0);

/** Writes the parts of one backup, in order. */
export class PartWriter {
  #parts = 0;
  readonly #checksums = createHash('sha256');

  get start(): Uint8Array {
    return MAGIC;
  }

  /** The bytes of the next part. */
  write(content: Exclude<PartContent, BackupEnd>, payload: Uint8Array = NOTHING): Uint8Array {
    return this.#encode(content, payload);
  }

  /** The bytes of the last part. */
  end(content: Omit<BackupEnd, 'kind' | 'checksums'>): Uint8Array {
    return this.#encode(
      { kind: 'end', ...content, checksums: this.#checksums.copy().digest('hex') },
      NOTHING,
    );
  }

  #encode(content: PartContent, payload: Uint8Array): Uint8Array {
    const stored = payload.length === 0 ? NOTHING : zstdCompressSync(payload, COMPRESSION);
    const sizes = { part: this.#parts, rawBytes: payload.length, storedBytes: stored.length };
    const header = Buffer.from(JSON.stringify({ ...sizes, ...content }));
    if (header.length > MOST_HEADER_BYTES) throw new Error('A part of a backup has too long a header.');
    this.#parts += 1;
    const checksum = hash('sha256', Buffer.concat([header, stored]), 'buffer');
    this.#checksums.update(checksum);
    const length = Buffer.allocUnsafe(4);
    length.writeUInt32LE(header.length, 0);
    return Buffer.concat([length, header, stored, checksum]);
  }
}

/** The parts of a backup, each with a checksum that is right. Throws BACKUP_DAMAGED; the last part comes only once the file has ended after it. */
export async function* readParts(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<BackupPart> {
  const bytes = new ByteReader(chunks);
  const start = await bytes.upTo(MAGIC.length);
  if (!start.equals(MAGIC)) {
    const format = ANY_FORMAT.exec(start.toString('latin1'))?.[1];
    throw damaged(
      format === undefined
        ? 'it is no backup of Scrapifie'
        : `it has format ${format}, which this program does not know`,
    );
  }
  const checksums = createHash('sha256');
  for (let part = 0; ; part += 1) {
    const where = `part ${part}`;
    const length = (await bytes.exactly(4, where)).readUInt32LE(0);
    if (length > MOST_HEADER_BYTES) throw damaged(`${where} has a header that is too long`);
    const header = await bytes.exactly(length, where);
    const { part: number, rawBytes, storedBytes, ...content } = readHeader(header, where);
    if (number !== part) throw damaged(`${where} is in the wrong place`);
    if (rawBytes > MOST_PAYLOAD_BYTES || storedBytes > MOST_PAYLOAD_BYTES)
      throw damaged(`${where} is too long`);
    const stored = await bytes.exactly(storedBytes, where);
    const checksum = await bytes.exactly(CHECKSUM_BYTES, where);
    if (!hash('sha256', Buffer.concat([header, stored]), 'buffer').equals(checksum)) {
      throw damaged(`the checksum of ${where} is wrong`);
    }
    if (part === 0 && content.kind !== 'begin') throw damaged('its first part is missing');
    if (part > 0 && content.kind === 'begin') throw damaged(`${where} is in the wrong place`);
    if (content.kind === 'end') {
      if (content.checksums !== checksums.digest('hex')) throw damaged('a part was replaced');
      if ((await bytes.upTo(1)).length > 0) throw damaged('there is something after its end');
      yield { ...content, payload: NOTHING };
      return;
    }
    checksums.update(checksum);
    yield { ...content, payload: decompress(stored, rawBytes, where) };
  }
}

function readHeader(header: Buffer, where: string): z.infer<typeof headerSchema> {
  try {
    const parsed = headerSchema.safeParse(JSON.parse(header.toString('utf8')));
    if (parsed.success) return parsed.data;
  } catch {
    // The header is damaged, as the error below says.
  }
  throw damaged(`${where} has a header that cannot be read`);
}

function decompress(stored: Buffer, rawBytes: number, where: string): Buffer {
  if (stored.length === 0 && rawBytes === 0) return NOTHING;
  try {
    // One byte more than it may have is noticed, and a frame that would fill the memory is not decoded to its end.
    const raw = zstdDecompressSync(stored, { maxOutputLength: Math.max(1, rawBytes) });
    if (raw.length === rawBytes) return raw;
  } catch {
    // The bytes are damaged, as the error below says.
  }
  throw damaged(`${where} cannot be decompressed`);
}

/** Takes pieces of any length from a stream of chunks. */
class ByteReader {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #held: Buffer[] = [];
  #heldBytes = 0;

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** Fewer at the end of the stream. */
  async upTo(count: number): Promise<Buffer> {
    while (this.#heldBytes < count) {
      const next = await this.#chunks.next();
      if (next.done === true) break;
      this.#held.push(Buffer.from(next.value.buffer, next.value.byteOffset, next.value.byteLength));
      this.#heldBytes += next.value.byteLength;
    }
    const all =
      this.#held.length === 1 && this.#held[0] !== undefined ? this.#held[0] : Buffer.concat(this.#held);
    const taken = all.subarray(0, count);
    this.#held = [all.subarray(taken.length)];
    this.#heldBytes = all.length - taken.length;
    return taken;
  }

  async exactly(count: number, where: string): Promise<Buffer> {
    const taken = await this.upTo(count);
    if (taken.length < count) throw damaged(`it ends within ${where}`);
    return taken;
  }
}

export const damaged = (why: string): ScrapifieError =>
  new ScrapifieError('BACKUP_DAMAGED', `The backup cannot be used: ${why}.`);
