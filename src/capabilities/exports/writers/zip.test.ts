import { createHash } from 'node:crypto';
import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { writeZip, type ZipEntry } from './zip.ts';

const archive = async (entries: readonly ZipEntry[]) =>
  Buffer.concat(await Array.fromAsync(writeZip(entries)));
const texts = (bytes: Buffer) =>
  Object.fromEntries(
    Object.entries(unzipSync(bytes)).map(([name, data]) => [name, Buffer.from(data).toString()]),
  );

async function* pieces(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part);
}

describe('a ZIP archive', () => {
  it('holds entries of known and of unknown size, compressed or not', async () => {
    const bytes = await archive([
      { name: 'a.txt', data: Buffer.from('hello hello hello') },
      { name: 'folder/ü.txt', data: pieces('one ', 'two') },
      { name: 'stored.bin', data: Buffer.from('as it is'), isStored: true },
      { name: 'streamed.bin', data: pieces('as ', 'it is'), isStored: true },
      { name: 'empty', data: pieces() },
    ]);
    expect(texts(bytes)).toEqual({
      'a.txt': 'hello hello hello',
      'folder/ü.txt': 'one two',
      'stored.bin': 'as it is',
      'streamed.bin': 'as it is',
      empty: '',
    });
  });

  it('compresses an entry that comes in pieces, each with the one before as its dictionary', async () => {
    const noise = createHash('sha512').update('a').digest('hex');
    const bytes = await archive([{ name: 'a', data: pieces(...Array.from({ length: 100 }, () => noise)) }]);
    expect(texts(bytes)).toEqual({ a: noise.repeat(100) });
    // By itself a piece would take 64 bytes: half of its characters.
    expect(bytes.length).toBeLessThan(100 * 40);
  });

  it('has more entries than 16 bits can count', async () => {
    const count = 70_000;
    async function* many(): AsyncGenerator<ZipEntry> {
      for (let at = 0; at < count; at += 1) yield { name: `${at}`, data: Buffer.alloc(0), isStored: true };
    }
    const chunks = await Array.fromAsync(writeZip(many()));
    const bytes = Buffer.concat(chunks);
    // The end of the directory says so with 64 bits.
    const end64 = bytes.lastIndexOf(Buffer.from([0x50, 0x4b, 0x06, 0x06]));
    expect(bytes.readBigUInt64LE(end64 + 32)).toBe(BigInt(count));
    // The directory comes in small pieces, so that what was written is free before the next ones are read.
    const directoryAt = Number(bytes.readBigUInt64LE(end64 + 48));
    expect(bytes.readUInt32LE(directoryAt)).toBe(0x02014b50);
    expect(Math.max(...chunks.map(({ length }) => length))).toBeLessThanOrEqual(4_096);
    expect(texts(bytes)).toMatchObject({ 0: '', [count - 1]: '' });
  });

  it('has entries whose names are longer than a piece of the directory', async () => {
    const names = ['a', 'b'.repeat(10_000), 'c'];
    const bytes = await archive(names.map((name) => ({ name, data: Buffer.from(name) })));
    expect(texts(bytes)).toEqual(Object.fromEntries(names.map((name) => [name, name])));
  });

  it('the same entries give the same bytes', async () => {
    const entries = () => [{ name: 'a', data: Buffer.from('x'.repeat(1_000)) }];
    expect(await archive(entries())).toEqual(await archive(entries()));
  });

  it('tells when an entry cannot be read', async () => {
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('begin');
      throw new Error('gone');
    }
    await expect(archive([{ name: 'a', data: broken() }])).rejects.toThrow('gone');
  });
});
