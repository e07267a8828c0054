import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText, guessUtf16 } from '../charset/charset.ts';
import type { DocumentContent } from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { makePdf } from './pdf/pdf.fixture.ts';
import { readDocument } from './read-document.ts';

const FETCHED_AT = Date.parse('2026-11-12T10:00:00Z');
const read = (
  body: string | Uint8Array,
  contentType: string | null,
  url = 'https://site.example/dir/file',
): Promise<DocumentContent | null> =>
  readDocument(typeof body === 'string' ? Buffer.from(body) : body, contentType, url, {
    decode: decodeText,
    fetchedAt: FETCHED_AT,
  });
const codes = (content: DocumentContent | null): string[] =>
  (content?.problems ?? []).map(({ code }) => code);
const urls = (content: DocumentContent | null): string[] => (content?.links ?? []).map(({ url }) => url);

describe('what a body is', () => {
  const rows = 'name;price;stock\nA;1,5;3\nB;2,5;4\n';
  const rss = '<?xml version="1.0"?><rss version="2.0"><channel><title>T</title></channel></rss>';
  const zip = Buffer.from([0x50, 0x4b, 3, 4, 20, 0, 0, 0]);
  const png = Buffer.from([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10]);
  it.each<[string, string | Uint8Array, string | null, string | null]>([
    ['JSON by its type', '{"a":1}', 'application/json; charset=utf-8', 'json'],
    ['JSON by a type of its own', '{"a":1}', 'application/vnd.api+json', 'json'],
    ['JSON as text', '{"a":1}', 'text/plain', 'json'],
    ['JSON as a web page', ' [1, 2]', 'text/html', 'json'],
    ['JSON without a type', '{"a":1}', null, 'json'],
    ['text that begins like JSON', '[Intro]\nla la la', 'text/plain', 'text'],
    ['a page that begins like JSON', '{ hello } <p>there', 'text/html', null],
    ['a page that is said to be JSON', '<!DOCTYPE html><title>404</title>', 'application/json', null],
    ['a page that is said to be a PDF', '<html><body>Log in', 'application/pdf', null],
    ['a page', '<p>hello', 'text/html', null],
    ['a page without a type', '<!-- x --><html><body>', null, null],
    [
      'a page in XHTML',
      '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"/>',
      'application/xhtml+xml',
      null,
    ],
    ['a page in XML', '<?xml version="1.0"?>\n<html><body/></html>', 'text/xml', null],
    ['HTML shown as text', '<p>hello', 'text/plain', 'text'],
    ['a feed by its type', rss, 'application/rss+xml', 'feed'],
    ['a feed as a page', rss, 'text/html', 'feed'],
    ['a feed as text', rss, 'text/plain', 'feed'],
    ['a feed without a type', rss, 'application/octet-stream', 'feed'],
    ['XML', '<catalog><item/></catalog>', 'application/xml', 'xml'],
    ['a table by its type', 'a,b\n1,2', 'text/csv', 'csv'],
    ['a table as text', rows, 'text/plain', 'csv'],
    ['a table as anything', rows, 'application/octet-stream', 'csv'],
    ['prose with commas', 'Well, yes.\nNo, not at all, said he.\nWhy?', 'text/plain', 'text'],
    ['a script', 'let a = [1, 2, 3];\nlet b = [3, 4, 5];\n', 'application/javascript', 'text'],
    ['a type nobody knows with text in it', 'hello', 'application/x-strange', 'text'],
    ['an archive', zip, 'application/zip', 'binary'],
    ['an archive without a type', zip, null, 'binary'],
    ['an archive that is said to be text', zip, 'text/plain', 'binary'],
    ['a picture', png, 'image/png', 'binary'],
    [
      'a picture of text',
      '<svg xmlns="http://www.w3.org/2000/svg"><title>Logo</title></svg>',
      'image/svg+xml',
      'xml',
    ],
    ['nothing', '', 'application/json', 'text'],
  ])('%s', async (_name, body, type, expected) => {
    const found = await read(body, type);
    expect(found?.kind ?? null).toBe(expected);
    expect(codes(found)).toEqual([]);
  });

  it('a PDF is told by its mark, whatever its type', async () => {
    const pdf = makePdf({ pages: [[[12, 'Hello from inside']]] });
    expect(await read(pdf, 'text/html')).toMatchObject({
      kind: 'pdf',
      text: 'Hello from inside',
      charset: null,
    });
  });

  it('what is said to be a PDF and is not is kept as the text it is', async () => {
    const found = await read('just words', 'application/pdf');
    expect(found).toMatchObject({ kind: 'text', text: 'just words' });
    expect(codes(found)).toEqual(['pdf-broken']);
  });

  it('text in UTF-16 without a mark is read', async () => {
    for (const isBig of [false, true]) {
      const bytes = Buffer.from('{"name": "Grüße, 世界"}', 'utf16le');
      if (isBig) bytes.swap16();
      const found = await read(bytes, 'application/json');
      expect(found).toMatchObject({
        json: { name: 'Grüße, 世界' },
        title: 'Grüße, 世界',
        charset: isBig ? 'utf-16be' : 'utf-16le',
      });
    }
  });

  it('is never an error, and always cut where the limit is', async () => {
    const long = await read('word '.repeat(DOCUMENT_LIMITS.textChars / 4), 'text/plain');
    expect(long?.text.length).toBeLessThanOrEqual(DOCUMENT_LIMITS.textChars);
    expect(codes(long)).toEqual(['text-cut']);
    const types = [
      null,
      'text/html',
      'text/plain',
      'application/json',
      'text/xml',
      'text/csv',
      'application/pdf',
      'x/y',
    ];
    const starts = ['', '{"a":', '[[[', '<?xml?>', '<rss><channel><item>', 'a,b\n"', '\ufeff', '<feed>'];
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...types),
        fc.constantFrom(...starts),
        fc.oneof(fc.string({ unit: 'binary' }), fc.string()),
        async (type, start, rest) => {
          const found = await read(start + rest, type);
          if (found !== null) expect(typeof found.text).toBe('string');
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('UTF-16 without a mark', () => {
  it('is told from everything else', () => {
    const swapped = (text: string) => Buffer.from(text, 'utf16le').swap16();
    expect(guessUtf16(Buffer.from('<html><body>', 'utf16le'))).toBe('utf-16le');
    expect(guessUtf16(swapped('<html><body>'))).toBe('utf-16be');
    expect(guessUtf16(Buffer.from('<p>你好世界你好世界你好世界', 'utf16le'))).toBe('utf-16le');
    expect(guessUtf16(Buffer.from('<html><body>'))).toBeNull();
    expect(guessUtf16(Buffer.alloc(100))).toBeNull();
    expect(guessUtf16(Buffer.from([1, 0, 2, 0, 3, 0, 4, 0, 5, 0]))).toBeNull();
    expect(guessUtf16(Buffer.from('ab'))).toBeNull();
    // UTF-32 has zeros on both sides.
    expect(guessUtf16(Buffer.from([0x61, 0, 0, 0, 0x62, 0, 0, 0, 0x63, 0, 0, 0]))).toBeNull();
  });

  it('is found in all text with some ASCII, and in no UTF-8', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 4 }), (words) => {
        const text = `<title>${words.replace(/\p{Cc}|\p{Cn}/gu, '')}</title>`;
        fc.pre(text.isWellFormed());
        expect(guessUtf16(Buffer.from(text))).toBeNull();
        const guess = guessUtf16(Buffer.from(text, 'utf16le'));
        expect(['utf-16le', null]).toContain(guess);
        if (words.length < 40) expect(guess).toBe('utf-16le');
      }),
    );
  });
});

describe('JSON', () => {
  it('is shown with a line for each value, its numbers as they were written', async () => {
    const found = await read(
      '{"id":12345678901234567890,"a":[],"b":{"c":[1.50,true]},"d":"x\\"{"}',
      'application/json',
    );
    expect(found?.text).toBe(
      '{\n  "id": 12345678901234567890,\n  "a": [],\n  "b": {\n    "c": [\n      1.50,\n      true\n    ]\n  },\n  "d": "x\\"{"\n}',
    );
    expect(found?.markdown.startsWith('```json\n{')).toBe(true);
  });

  it('shown so is the same value', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue({ maxDepth: 5 }), fc.nat(3), async (value, space) => {
        const source = JSON.stringify(value, null, space);
        const found = await read(source, 'application/json');
        expect(JSON.parse(found?.text ?? '')).toEqual(JSON.parse(source));
        expect(found?.json).toEqual(JSON.parse(source));
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ['{"title": " A  title "}', 'A title'],
    ['{"name": "N", "headline": "H"}', 'H'],
    ['{"openapi": "3.1.0", "info": {"title": "Pets"}}', 'Pets'],
    ['{"data": {"name": "N"}}', 'N'],
    ['{"title": 5}', null],
    ['[{"title": "x"}]', null],
    ['"text"', null],
  ])('%s is called %s', async (source, title) => {
    expect((await read(source, 'application/json'))?.title).toBe(title);
  });

  it('names its links, relative ones where they are links', async () => {
    const source = JSON.stringify({
      self: 'https://a.example/1',
      _links: { next: { href: '/page/2', title: 'Next' } },
      path: '/not/a/link',
      list: ['https://a.example/2', 'see https://a.example/3', 'https://a.example/1', 'ftp://a.example/'],
    });
    const found = await read(source, 'application/json');
    expect(urls(found)).toEqual([
      'https://a.example/1',
      'https://site.example/page/2',
      'https://a.example/2',
    ]);
    expect(found?.links[1]).toEqual({
      url: 'https://site.example/page/2',
      text: 'Next',
      rel: '',
      from: 'json',
    });
  });

  it.each([
    [')]}\',\n{"a":1}', { a: 1 }],
    ['while(1);{"a":1}', { a: 1 }],
    ['/**/cb.x({"a":1});\n', { a: 1 }],
    ['{"a":1}\n{"a":2}\n', [{ a: 1 }, { a: 2 }]],
  ])('%j holds its value', async (source, value) => {
    const found = await read(source, 'application/json');
    expect(found?.json).toEqual(value);
    expect(codes(found)).toEqual([]);
  });

  it('of lines that was cut keeps the whole ones', async () => {
    const found = await read('{"a":1}\n{"a":2}\n{"a":', 'application/x-ndjson');
    expect(found?.json).toEqual([{ a: 1 }, { a: 2 }]);
    expect(codes(found)).toEqual(['json-broken']);
  });

  it('of very many lines is read up to the limit, and says so', async () => {
    const found = await read('[1]\n'.repeat(200_002), 'application/x-ndjson');
    expect(found?.json).toHaveLength(200_000);
    expect(codes(found)).toEqual(['json-too-large']);
  });

  it.each([
    ['{"a":', 'json-broken'],
    ['not json', 'json-broken'],
    ['['.repeat(100_000) + ']'.repeat(100_000), 'json-too-large'],
  ])('%.20s is %s and kept as text', async (source, code) => {
    const found = await read(source, 'application/json');
    expect(found).toMatchObject({ kind: 'json', text: source });
    expect(found).not.toHaveProperty('json');
    expect(codes(found)).toEqual([code]);
  });
});

describe('XML', () => {
  it('gives its text, title and links', async () => {
    const found = await read(
      '<catalog xml:lang="de"><title>Liste &amp; mehr</title><item href="/a">Eins</item><loc>https://b.example/</loc>&nbsp;AT&T</catalog>',
      'application/xml',
    );
    expect(found).toMatchObject({ kind: 'xml', title: 'Liste & mehr', language: 'de', problems: [] });
    expect(found?.text).toBe('Liste & mehr\nEins\nhttps://b.example/\nAT&T');
    expect(urls(found)).toEqual(['https://site.example/a', 'https://b.example/']);
  });

  it('that is broken is read as far as it can be', async () => {
    const found = await read('<a><title>T</title><b>one</b><c>two</a>', 'text/xml');
    expect(found).toMatchObject({ title: 'T', text: 'T\none\ntwo' });
    expect(codes(found)).toEqual(['xml-broken']);
  });

  it('without an element is broken', async () => {
    expect(codes(await read('nothing here', 'text/xml'))).toEqual(['xml-broken']);
  });

  it('does not expand what its document type defines', async () => {
    const bomb = `<!DOCTYPE a [<!ENTITY x "lol"><!ENTITY y "${'&x;'.repeat(100)}">]><a><title>&y;</title></a>`;
    expect((await read(bomb, 'text/xml'))?.text.length).toBeLessThan(20);
  });

  it.each([
    ['is nested without end', '<a>'.repeat(200_000)],
    ['has more elements than are read', `<a>${'<b/>'.repeat(DOCUMENT_LIMITS.xmlElements + 1)}</a>`],
    ['has more characters than are read', `<a>${'x'.repeat(DOCUMENT_LIMITS.xmlChars)}</a>`],
    ['has more flaws than text', `<a>${'<'.repeat(1_000_000)}`],
    ['is nothing but ampersands', `<a>${'&'.repeat(3_000_000)}</a>`],
  ])('that %s is read as far as it goes', async (_name, source) => {
    expect(codes(await read(source, 'text/xml')).join()).toMatch(/xml-(?:too-large|broken)/);
  });
});

describe('plain text', () => {
  it('names the URLs in it without the sentence around them', async () => {
    const found = await read(
      'See https://a.example/x. Or (https://b.example/y_(z)), <https://c.example/?q=1&r=2>, http://d.example!',
      'text/plain',
    );
    expect(urls(found)).toEqual([
      'https://a.example/x',
      'https://b.example/y_(z)',
      'https://c.example/?q=1&r=2',
      'http://d.example/',
    ]);
  });

  it('that is Markdown is Markdown, with its first heading as title', async () => {
    const found = await read('intro\n\n# The title #\n\ntext', 'text/plain', 'https://x.example/README.md');
    expect(found).toMatchObject({ title: 'The title', markdown: 'intro\n\n# The title #\n\ntext' });
  });

  it('that is code becomes a block of it', async () => {
    const found = await read('a: 1\n```\n', 'application/yaml');
    expect(found?.markdown).toBe('````yaml\na: 1\n```\n````');
  });
});
