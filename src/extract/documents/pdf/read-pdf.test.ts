import { deflateSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PDF_LIMITS } from '../document-limits.ts';
import { makePdf } from './pdf.fixture.ts';
import { bodySize, isHeading, joinedLines, linesOf, type PdfPiece, paragraphsOf } from './pdf-layout.ts';
import { pdfDate } from './pdf-messages.ts';
import { readPdf } from './read-pdf.ts';

const read = (pdf: Uint8Array, limits = {}) => readPdf(pdf, { ...PDF_LIMITS, ...limits });
const codes = async (pdf: Uint8Array, limits = {}): Promise<string[]> =>
  ((await read(pdf, limits)).problems ?? []).map(({ code }) => code);

const REPORT = makePdf({
  isCompressed: true,
  link: 'https://example.com/annex',
  info: {
    Title: 'Annual (short) report',
    Author: 'Ada Example',
    CreationDate: "D:20260912101500+02'00'",
    ModDate: 'D:20261001',
  },
  pages: [
    [
      [24, 'Annual report'],
      [11, 'The year was good, and the num-'],
      [11, 'bers show it: see https://example.com/figures.'],
      [11, ''],
      [11, 'A second paragraph.'],
    ],
    [
      [16, 'Outlook'],
      [11, 'The next year will be better.'],
    ],
  ],
});

describe('a PDF', () => {
  it('gives its text, its facts and its links', async () => {
    const found = await read(REPORT);
    expect(found).toMatchObject({
      kind: 'pdf',
      title: 'Annual (short) report',
      author: 'Ada Example',
      publishedAt: '2026-09-12T10:15:00+02:00',
      modifiedAt: '2026-10-01',
      language: 'en-GB',
      pageCount: 2,
      problems: [],
    });
    expect(found.text).toBe(
      'Annual report\n\nThe year was good, and the num-\nbers show it: see https://example.com/figures.\n\nA second paragraph.\n\nOutlook\n\nThe next year will be better.',
    );
    expect(found.markdown).toBe(
      '# Annual report\n\nThe year was good, and the numbers show it: see https://example.com/figures.\n\nA second paragraph.\n\n## Outlook\n\nThe next year will be better.',
    );
    expect(found.links?.map(({ url }) => url)).toEqual([
      'https://example.com/annex',
      'https://example.com/figures',
    ]);
  });

  it('is called by its largest line when its title is what a program made up', async () => {
    const info = { Title: 'Microsoft Word - final_v3.doc' };
    const pages = [[[20, 'The real title'] as const, [10, 'Text of the first page.'] as const]];
    expect((await read(makePdf({ info, pages }))).title).toBe('The real title');
  });

  it('without text says so', async () => {
    expect(await codes(makePdf({ pages: [[]] }))).toEqual(['pdf-no-text']);
  });

  it('that declares 10,000 pages and has one gives the one, soon', async () => {
    const found = await read(makePdf({ pages: [[[12, 'The only page']]], declaredPages: 10_000 }));
    expect(found).toMatchObject({ text: 'The only page', pageCount: 1, problems: [] });
  });

  it('that names one page 10,000 times is read up to the limit', async () => {
    const found = await read(makePdf({ pages: [[[12, 'Again']]], copies: 10_000 }), { pages: 50 });
    expect(found.pageCount).toBe(10_000);
    expect(found.text?.split('\n\n')).toHaveLength(50);
    expect(found.problems?.map(({ code }) => code)).toEqual(['pdf-page-limit']);
  });

  it('is read up to the limit of pages', async () => {
    const pages = Array.from({ length: 12 }, (_, index) => [[12, `Page ${index + 1}`] as const]);
    const found = await read(makePdf({ pages }), { pages: 5 });
    expect(found.text).toBe('Page 1\n\nPage 2\n\nPage 3\n\nPage 4\n\nPage 5');
    expect(found).toMatchObject({ pageCount: 12, pagesRead: 5 });
    expect(found.problems).toEqual([
      { code: 'pdf-page-limit', message: 'Only the first 5 of 12 pages were read.' },
    ]);
  });

  it('that needs a password is named as such', async () => {
    const entry =
      '/ID [<00112233445566778899aabbccddeeff> <00112233445566778899aabbccddeeff>] ' +
      `/Encrypt << /Filter /Standard /V 1 /R 2 /P -44 /O <${'3a'.repeat(32)}> /U <${'5b'.repeat(32)}> >>`;
    expect(await codes(makePdf({ pages: [[[12, 'secret']]], trailer: entry }))).toEqual(['pdf-encrypted']);
  });

  it.each([
    ['only its first bytes', REPORT.subarray(0, 20)],
    ['nothing but its mark', Buffer.from('%PDF-1.7')],
    ['noise behind its mark', Buffer.concat([Buffer.from('%PDF-1.4\n'), Buffer.alloc(5_000, 0x5b)])],
    [
      'a trailer that leads nowhere',
      Buffer.from('%PDF-1.4\ntrailer << /Root 9 0 R >>\nstartxref\n99999\n%%EOF'),
    ],
  ])('with %s is broken, and nothing worse', async (_name, bytes) => {
    expect(await codes(bytes)).toEqual(['pdf-broken']);
  });

  it('that was cut off is read as far as it goes', async () => {
    const found = await read(REPORT.subarray(0, REPORT.length - 20));
    expect(found.kind).toBe('pdf');
    expect(found.text).toContain('The next year will be better.');
  });

  it('that would take too long is ended', async () => {
    // Content that draws nothing for many millions of commands.
    const content = deflateSync(Buffer.from('q Q '.repeat(8_000_000)));
    const pdf = makePdf({ pages: [[]], content, contentFilter: '/Filter /FlateDecode' });
    const found = await codes(pdf, { timeMs: 1_200 });
    expect(['pdf-time-limit', 'pdf-memory-limit']).toContain(found[0]);
  });

  it('that unpacks to more than fits is ended', async () => {
    const bomb = deflateSync(deflateSync(Buffer.alloc(120_000_000, 0x20), { level: 9 }), { level: 9 });
    const pdf = makePdf({ pages: [[]], content: bomb, contentFilter: '/Filter [/FlateDecode /FlateDecode]' });
    const found = await codes(pdf, { bufferBytes: 32 * 1_048_576, timeMs: 10_000 });
    expect(found).toEqual(['pdf-memory-limit']);
  });

  it('that is too large is not begun', async () => {
    expect(await codes(REPORT, { bytes: 100 })).toEqual(['pdf-memory-limit']);
  });

  it('with any bytes changed never throws', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.nat(REPORT.length - 1), fc.nat(255)), { maxLength: 40 }),
        async (changes) => {
          const bytes = REPORT.slice();
          for (const [at, byte] of changes) bytes[at] = byte;
          expect((await read(bytes)).kind).toBe('pdf');
        },
      ),
      { numRuns: 8 },
    );
  });
});

describe('a date of PDF', () => {
  it.each([
    ['D:20260912101500Z', '2026-09-12T10:15:00.000Z'],
    ["D:20260912101500-05'30'", '2026-09-12T10:15:00-05:30'],
    ['D:20260912101500+02', '2026-09-12T10:15:00+02:00'],
    ['D:20260912101500', '2026-09-12'],
    ['20260912', '2026-09-12'],
    ['D:2026', '2026-01-01'],
    ['D:20260231', null],
    ['D:20261301', null],
    ['yesterday', null],
    [42, null],
  ])('%s is %s', (written, expected) => {
    expect(pdfDate(written)).toBe(expected);
  });
});

describe('lines and tables of a PDF', () => {
  const at = (x: number, y: number, text: string): string => `BT /F1 10 Tf ${x} ${y} Td (${text}) Tj ET`;
  const drawn = (...commands: readonly string[]) =>
    read(makePdf({ pages: [[]], content: Buffer.from(commands.join('\n'), 'latin1') }));

  it('lines that end on purpose stay lines, and those that the page broke are joined', async () => {
    const { text, markdown } = await drawn(
      at(72, 740, 'Ada Example'),
      at(72, 728, '12 Harbour Road'),
      at(72, 716, 'Dublin'),
      at(72, 680, 'This letter has a paragraph that is as wide as the page and goes on'),
      at(72, 668, 'here because nothing more fitted into the line above, and ends.'),
    );
    expect(text).toBe(
      'Ada Example\n12 Harbour Road\nDublin\n\nThis letter has a paragraph that is as wide as the page and goes on\n' +
        'here because nothing more fitted into the line above, and ends.',
    );
    expect(markdown).toBe(
      'Ada Example\\\n12 Harbour Road\\\nDublin\n\nThis letter has a paragraph that is as wide as the page and goes on ' +
        'here because nothing more fitted into the line above, and ends.',
    );
  });

  it('cells that stand in columns are a table, a cell of several lines and an empty one included', async () => {
    const row = (y: number, ...cells: readonly string[]): string[] =>
      cells.flatMap((cell, index) => (cell === '' ? [] : [at(72 + index * 150, y, cell)]));
    const { text, markdown } = await drawn(
      at(72, 760, 'Prices of the season, for all crossings and all days of the week.'),
      ...row(720, 'Crossing', 'Ticket', 'Price'),
      ...row(706, 'North', 'Return | day', '19.90'),
      ...row(692, 'South', '', '24.50'),
      ...row(678, 'Islands', 'Single', '9.00'),
      at(222, 666, 'with bicycle'),
      at(72, 620, 'All prices with taxes.'),
    );
    expect(markdown).toBe(
      'Prices of the season, for all crossings and all days of the week.\n\n' +
        '| Crossing | Ticket | Price |\n| --- | --- | --- |\n| North | Return \\| day | 19.90 |\n| South |  | 24.50 |\n' +
        '| Islands | Single with bicycle | 9.00 |\n\nAll prices with taxes.',
    );
    expect(text).toContain('North\tReturn | day\t19.90\nSouth\t\t24.50\n');
  });

  it('two columns of running text are no table', async () => {
    const left = ['The first column has', 'several lines that', 'are read one after', 'the other.'];
    const right = ['The second one comes', 'after it, as it is', 'drawn in most of', 'such documents.'];
    const { markdown } = await drawn(
      ...left.map((line, index) => at(72, 740 - index * 12, line)),
      ...right.map((line, index) => at(320, 740 - index * 12, line)),
    );
    expect(markdown).not.toContain('|');
    expect(markdown).toMatch(/^The first column has several[\s\S]*the other\.[\s\S]*The second one comes/);
  });
});

describe('pieces of a page', () => {
  const piece = (text: string, x: number, y: number, size = 10, isLineEnd = false): PdfPiece => ({
    text,
    x,
    y,
    size,
    width: text.length * 5,
    isLineEnd,
  });

  it('become words, lines and paragraphs by where they stand', () => {
    const lines = linesOf([
      piece('Hel', 0, 100),
      piece('lo', 15, 100),
      piece('world', 30, 100),
      piece('next line', 0, 88),
      piece('far below', 0, 40),
    ]);
    expect(lines.map(({ text }) => text)).toEqual(['Hello world', 'next line', 'far below']);
    expect(paragraphsOf(lines, 10).map(joinedLines)).toEqual(['Hello world next line', 'far below']);
  });

  it('of the commonest size are the body, and larger ones headings', () => {
    const lines = linesOf([
      piece('Title', 0, 100, 20),
      piece('a long line of text', 0, 70),
      piece('more', 0, 58),
    ]);
    const body = bodySize(lines);
    expect(body).toBe(10);
    expect(lines.map((line) => isHeading(line, body))).toEqual([true, false, false]);
  });
});
