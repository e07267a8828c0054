import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { contentOfBackup, verifyBackup } from './backup-file.ts';
import { PartWriter } from './backup-parts.ts';
import { BODIES, bodyOf, HEAD, smallBackup } from './snapshot.fixture.ts';
import { encodeRow, TableDigest } from './table-digest.ts';

/** In pieces of this size, as a file or a bucket gives them. */
const open = (bytes: Buffer, size = 1_000) =>
  async function* () {
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  };
const codeOf = (bytes: Buffer) =>
  verifyBackup(open(bytes)).then(
    () => 'right',
    (error: { code?: string; message: string }) => error.code ?? error.message,
  );

describe('a backup', () => {
  it('is read in pieces of any size, and gives back what was written', async () => {
    const bytes = await smallBackup();
    for (const size of [1, 7, 1_000, 1_000_000]) {
      const verified = await verifyBackup(open(bytes, size));
      expect(verified.end.bodies).toEqual({ count: 2, bytes: 3_003, absent: 1 });
      expect(verified.end.tables).toMatchObject({ pages: { rows: 3 }, robots: { rows: 1 } });
      const content = contentOfBackup(open(bytes, size), verified);
      expect((await Array.fromAsync(content.bodies())).flatMap(({ bodies }) => bodies)).toEqual(BODIES);
      const rows = await Array.fromAsync(content.rows());
      expect(rows.map(({ table, rows: each }) => [table, each.length])).toEqual([
        ['pages', 3],
        ['robots', 1],
      ]);
    }
  });

  it('that was cut off anywhere is damaged', async () => {
    const bytes = await smallBackup();
    for (let length = 0; length < bytes.length; length += 13) {
      expect([length, await codeOf(bytes.subarray(0, length))]).toEqual([length, 'BACKUP_DAMAGED']);
    }
  });

  it('with any byte changed is damaged', async () => {
    const bytes = await smallBackup();
    for (let at = 0; at < bytes.length; at += 11) {
      const changed = Buffer.from(bytes);
      changed.writeUInt8((bytes.readUInt8(at) ^ 0x41) & 0xff, at);
      expect([at, await codeOf(changed)]).toEqual([at, 'BACKUP_DAMAGED']);
    }
  });

  it('with something after its end is damaged', async () => {
    expect(await codeOf(Buffer.concat([await smallBackup(), Buffer.of(0)]))).toBe('BACKUP_DAMAGED');
  });

  it('of another format, or another file, is told apart', async () => {
    const say = (text: string) =>
      verifyBackup(open(Buffer.from(text))).catch(({ message }: Error) => message);
    expect(await say('scrapifie-backup 9\nand more')).toContain('format 9');
    expect(await say('PK\u0003\u0004 something else altogether')).toContain('no backup');
  });

  it('of random bytes after the first line never gets further than an error', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 400 }), async (bytes) => {
        const file = Buffer.concat([Buffer.from('scrapifie-backup 1\n'), bytes]);
        expect(await codeOf(file)).toBe('BACKUP_DAMAGED');
      }),
    );
  });
});

describe('a backup with right checksums that was put together by hand', () => {
  const pages = { name: 'pages', columns: ['content_hash', 'record', 'seq'], lastNumber: null };
  const written = (write: (writer: PartWriter) => readonly Uint8Array[]) => {
    const writer = new PartWriter();
    const begin = { kind: 'begin' as const, ...HEAD, schema: { sqlite: 1, postgres: 1 }, tables: [pages] };
    return Buffer.concat([writer.start, writer.write(begin), ...write(writer)]);
  };
  const digestOf = (value: string) => {
    const digest = new TableDigest();
    digest.add([[value]]);
    return digest.figures;
  };
  const row = [bodyOf('one').hash, null, 1];
  const figures = () => {
    const digest = new TableDigest();
    digest.add([row]);
    return digest.figures;
  };
  const rowsPart = (writer: PartWriter, rows = 1, table = 'pages') =>
    writer.write({ kind: 'rows', table, rows }, encodeRow(row));

  it('and has a part of another backup in place of its own is damaged', async () => {
    const absent = (writer: PartWriter, text: string) =>
      writer.write({ kind: 'absent', hashes: [bodyOf(text).hash] });
    const end = (writer: PartWriter) =>
      writer.end({
        tables: { pages: new TableDigest().figures },
        bodies: { count: 0, bytes: 0, absent: 1 },
        references: digestOf(bodyOf('two').hash),
      });
    const file = written((writer) => {
      const other = new PartWriter();
      other.write({ kind: 'absent', hashes: [] });
      const replaced = absent(other, 'two');
      absent(writer, 'one');
      return [replaced, end(writer)];
    });
    await expect(verifyBackup(open(file))).rejects.toMatchObject({
      message: expect.stringContaining('a part was replaced'),
    });
  });

  it('and has other rows, tables, counts or bodies than it says is damaged', async () => {
    const one = bodyOf('one');
    const bodies = { count: 1, bytes: 3, absent: 0 };
    const body = (writer: PartWriter, hash: string, size = 3) =>
      writer.write({ kind: 'bodies', bodies: [{ hash, size }] }, one.bytes);
    const right = { pages: figures() };
    const references = digestOf(one.hash);
    const files = [
      // Fewer rows than the payload has, more, and rows of a table without a name.
      written((w) => [rowsPart(w, 0), body(w, one.hash), w.end({ tables: right, bodies, references })]),
      written((w) => [
        rowsPart(w, 1_000_000),
        body(w, one.hash),
        w.end({ tables: right, bodies, references }),
      ]),
      written((w) => [
        rowsPart(w, 1, 'keys'),
        body(w, one.hash),
        w.end({ tables: right, bodies, references }),
      ]),
      written((w) => [rowsPart(w), body(w, one.hash), w.end({ tables: {}, bodies, references })]),
      written((w) => [
        rowsPart(w),
        body(w, one.hash),
        w.end({ tables: right, bodies: { ...bodies, count: 2 }, references }),
      ]),
      written((w) => [
        rowsPart(w),
        body(w, bodyOf('two').hash),
        w.end({ tables: right, bodies, references }),
      ]),
      written((w) => [rowsPart(w), body(w, one.hash, 2), w.end({ tables: right, bodies, references })]),
      written((w) => [
        rowsPart(w),
        body(w, one.hash),
        w.end({ tables: { pages: { ...figures(), digest: '0'.repeat(64) } }, bodies, references }),
      ]),
      // A body that nothing refers to in place of one that is referred to.
      written((w) => [
        rowsPart(w),
        body(w, one.hash),
        w.end({ tables: right, bodies, references: digestOf(bodyOf('two').hash) }),
      ]),
    ];
    for (const file of files) expect(await codeOf(file)).toBe('BACKUP_DAMAGED');
    const whole = written((w) => [
      rowsPart(w),
      body(w, one.hash),
      w.end({ tables: right, bodies, references }),
    ]);
    expect(await codeOf(whole)).toBe('right');
  });
});
