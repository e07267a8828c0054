import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readSitemap, SITEMAP_LIMITS, type SitemapEnd, type SitemapLimits } from './sitemap.ts';
import type { SitemapItem } from './sitemap-readers.ts';

async function* inChunks(bytes: Uint8Array, size = 7): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function read(
  input: string | Uint8Array | AsyncIterable<Uint8Array>,
  limits: Partial<SitemapLimits> = {},
): Promise<SitemapEnd & { items: SitemapItem[]; urls: string[] }> {
  const bytes = typeof input === 'string' ? Buffer.from(input) : input;
  const reader = readSitemap(bytes instanceof Uint8Array ? inChunks(bytes) : bytes, {
    ...SITEMAP_LIMITS,
    ...limits,
  });
  const items: SitemapItem[] = [];
  for (;;) {
    const next = await reader.next();
    if (next.done === true) return { ...next.value, items, urls: items.map(({ url }) => url) };
    items.push(next.value);
  }
}

const entry = (url: string) => `<url><loc>${url}</loc></url>`;
const urlset = (body: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">${body}</urlset>`;
const WHOLE = { truncated: false, reason: null };

describe('a sitemap', () => {
  it('gives its URLs with what it says about them', async () => {
    const found = await read(
      urlset(`
      <url><loc> https://example.com/a?x=1&amp;y=2 </loc><lastmod>2024-05-01T10:00:00+02:00</lastmod>
        <changefreq>Daily</changefreq><priority>0.8</priority></url>
      <url><lastmod>someday</lastmod><priority>7</priority><changefreq>now</changefreq>
        <loc><![CDATA[https://example.com/b?x=1&y=2]]></loc></url>
      <url><lastmod>2024-01-01</lastmod></url>`),
    );
    expect(found.items).toEqual([
      {
        kind: 'url',
        url: 'https://example.com/a?x=1&y=2',
        lastModified: '2024-05-01T08:00:00.000Z',
        changeFrequency: 'daily',
        priority: 0.8,
      },
      { kind: 'url', url: 'https://example.com/b?x=1&y=2' },
    ]);
    expect(found).toMatchObject({ ...WHOLE, count: 2 });
  });

  it('gives the alternates in other languages as items of their own', async () => {
    const found = await read(
      urlset(`<url><loc>https://example.com/en</loc>
        <xhtml:link rel="alternate" hreflang="en" href="https://example.com/en"/>
        <xhtml:link rel="alternate" hreflang="de" href="https://example.com/de?a=1&amp;b=2"/>
        <xhtml:link rel="stylesheet" href="https://example.com/style.css"/></url>`),
    );
    expect(found.items).toEqual([
      { kind: 'url', url: 'https://example.com/en' },
      { kind: 'url', url: 'https://example.com/de?a=1&b=2', language: 'de' },
    ]);
  });

  it('does not take images for pages', async () => {
    const found = await read(
      urlset(`<url><loc>https://example.com/a</loc><image:image><image:loc>https://example.com/i.png</image:loc>
        <loc>https://example.com/nested</loc></image:image></url><constructor><toString/></constructor>`),
    );
    expect(found.urls).toEqual(['https://example.com/a']);
  });

  it('may qualify all its names', async () => {
    const found = await read(
      '<s:urlset xmlns:s="x"><s:url><s:loc>https://example.com/</s:loc></s:url></s:urlset>',
    );
    expect(found.urls).toEqual(['https://example.com/']);
  });

  it('may be an index', async () => {
    const found = await read(
      '<sitemapindex><sitemap><loc>https://example.com/1.xml.gz</loc><lastmod>2024-05-01</lastmod></sitemap></sitemapindex>',
    );
    expect(found.items).toEqual([
      { kind: 'sitemap', url: 'https://example.com/1.xml.gz', lastModified: '2024-05-01T00:00:00.000Z' },
    ]);
  });

  it('may be an RSS feed, old or new', async () => {
    const feed = await read(`<rss version="2.0"><channel><link>https://example.com/</link>
      <item><title>A &nbsp; B</title><link>https://example.com/a</link><pubDate>Wed, 01 May 2024 10:00:00 GMT</pubDate></item>
      <item><guid>https://example.com/b</guid></item><item><guid isPermaLink="false">https://example.com/no</guid></item>
      <item><guid>12</guid></item></channel></rss>`);
    expect(feed.items).toEqual([
      { kind: 'feed-entry', url: 'https://example.com/a', lastModified: '2024-05-01T10:00:00.000Z' },
      { kind: 'feed-entry', url: 'https://example.com/b' },
    ]);
    const old = await read(
      '<rdf:RDF><channel><link>x</link></channel><item><link>https://example.com/</link></item></rdf:RDF>',
    );
    expect(old.urls).toEqual(['https://example.com/']);
  });

  it('may be an Atom feed', async () => {
    const found =
      await read(`<feed xmlns="http://www.w3.org/2005/Atom"><link href="https://example.com/"/><entry>
      <link rel="self" href="https://example.com/self"/><link href="/a"/><updated>2024-05-01T00:00:00Z</updated>
      <content type="xhtml"><div><a href="https://example.com/no"/></div></content></entry></feed>`);
    expect(found.items).toEqual([
      { kind: 'feed-entry', url: '/a', lastModified: '2024-05-01T00:00:00.000Z' },
    ]);
  });

  it('may be a list of URLs', async () => {
    const found = await read(
      '\ufeffhttps://example.com/a\r\n\r\n# note\nnot a URL\n  http://example.com/b \nHTTPS://example.com/c',
    );
    expect(found.urls).toEqual(['https://example.com/a', 'http://example.com/b', 'HTTPS://example.com/c']);
    expect(found).toMatchObject(WHOLE);
  });
});

describe('the bytes of a sitemap', () => {
  const text = urlset(entry('https://example.com/é') + entry('https://example.com/日本'));
  const urls = ['https://example.com/é', 'https://example.com/日本'];

  it.each([
    ['gzip', gzipSync(text)],
    ['gzip in two members', Buffer.concat([gzipSync(text.slice(0, 90)), gzipSync(text.slice(90))])],
    ['a byte order mark', Buffer.from(`\ufeff${text}`)],
    ['space before the declaration', Buffer.from(`\n  ${text}`)],
    ['UTF-16, little end first', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['UTF-16, big end first', Buffer.from(`\ufeff${text}`, 'utf16le').swap16()],
  ])('may come as %s', async (_name, bytes) => {
    expect(await read(bytes)).toMatchObject({ urls, ...WHOLE });
  });

  it('may be in another encoding, if it says so', async () => {
    const latin = `<?xml version="1.0" encoding="ISO-8859-1"?><urlset>${entry('https://example.com/é')}</urlset>`;
    expect((await read(Buffer.from(latin, 'latin1'))).urls).toEqual(['https://example.com/é']);
    const unknown = latin.replace('ISO-8859-1', 'klingon');
    expect((await read(unknown)).urls).toEqual(['https://example.com/é']);
  });

  it('may arrive in chunks of any size', async () => {
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 400 }), fc.boolean(), async (size, isGzip) => {
        const body = Buffer.from(urlset(entry('https://example.com/?a=1&amp;b=2&c=3&é;')));
        const found = await read(inChunks(isGzip ? gzipSync(body) : body, size));
        expect(found).toMatchObject({ urls: ['https://example.com/?a=1&b=2&c=3&é;'], ...WHOLE });
      }),
      { numRuns: 50 },
    );
  });
});

describe('bad content', () => {
  it('of a kind that is common does no harm', async () => {
    const found = await read(
      urlset(entry('https://example.com/?a=1&b=2') + entry('https://example.com/b\u0001')),
    );
    expect(found).toMatchObject({ count: 2, ...WHOLE });
    expect(found.urls[0]).toBe('https://example.com/?a=1&b=2');
  });

  it.each([
    ['breaks off', `<urlset>${entry('https://example.com/a')}<url><loc>https://example.com/b`],
    [
      'has a stray tag',
      `<urlset>${entry('https://example.com/a')}</oops>${entry('https://example.com/b')}</urlset>`,
    ],
  ])('that %s gives what came before', async (_name, text) => {
    const found = await read(text);
    expect(found).toMatchObject({ urls: ['https://example.com/a'], truncated: true });
    expect(found.reason).toMatch(/^broken-xml: /);
  });

  it('in gzip gives what came before, or at least a reason', async () => {
    const entries = Array.from({ length: 5_000 }, (_, i) => entry(`https://a.test/${i}`)).join('');
    const packed = gzipSync(urlset(entries));
    const cut = await read(packed.subarray(0, packed.length / 2));
    expect(cut.truncated).toBe(true);
    expect(cut.count).toBeGreaterThan(1_000);
    // A block of a type that does not exist, behind a sound first half.
    const half = gzipSync(urlset(entries.repeat(5)).slice(0, -9));
    const spoilt = await read(Buffer.concat([half, packed.subarray(0, 10), Buffer.of(0x07, 0, 0, 0)]));
    expect(spoilt).toMatchObject({ truncated: true, reason: expect.stringMatching(/^broken-gzip: /) });
    expect(spoilt.count).toBeGreaterThan(10_000);
  });

  it('in a gzipped file of a few bytes gives what came before', async () => {
    const packed = gzipSync(`<urlset>${entry('https://example.com/a')}`);
    const found = await read(packed.subarray(0, -4));
    expect(found).toMatchObject({ urls: ['https://example.com/a'], truncated: true });
  });

  it.each([
    ['<!DOCTYPE html><html><body><a href=x>'],
    ['<!doctype HTML>\n<p>not found'],
    ['<!-- hi --><!doctype html><html lang=en>'],
    ['<html lang=en><head>'],
    ['<?xml version="1.0"?><!DOCTYPE html PUBLIC "-//W3C" "x"><html xmlns="y"><p/></html>'],
  ])('that is an HTML page gives nothing: %s', async (text) => {
    expect(await read(text)).toMatchObject({ count: 0, truncated: false, reason: 'html-page' });
  });

  it.each([
    ['', 'empty'],
    [' \n ', 'empty'],
    ['<svg/>', 'not-a-sitemap'],
    ['{"error":"no"}', 'not-a-sitemap'],
    ['nothing\n'.repeat(1_000), 'not-a-sitemap'],
    ['\u0000'.repeat(10_000), 'not-a-sitemap'],
  ])('%j gives the reason %s', async (text, reason) => {
    expect(await read(text)).toMatchObject({ count: 0, truncated: false, reason });
  });

  it('never throws', async () => {
    const piece = fc.oneof(
      fc.constantFrom(
        '<urlset>',
        '<url>',
        '<loc>',
        '</loc>',
        '</url>',
        '</urlset>',
        '&',
        '&#x110000;',
        ']]>',
      ),
      fc.constantFrom(
        '<![CDATA[',
        '<!--',
        '-->',
        '<?xml version="9"?>',
        '<!DOCTYPE x [',
        '\u0000',
        '\n',
        '<a b=',
      ),
      fc.string({ maxLength: 5 }),
    );
    const text = fc.array(piece, { maxLength: 15 }).map((pieces) => pieces.join(''));
    const bytes = fc
      .uint8Array({ maxLength: 64 })
      .map((tail) => Buffer.concat([Buffer.of(0x1f, 0x8b), tail]));
    await fc.assert(fc.asyncProperty(fc.oneof(text, bytes), async (input) => void (await read(input))));
  });

  it('is told apart from a source that fails', async () => {
    const failing = (start: Uint8Array) =>
      (async function* () {
        yield start;
        throw new Error('connection lost');
      })();
    await expect(read(failing(Buffer.from('<urlset>')))).rejects.toThrow('connection lost');
    await expect(read(failing(gzipSync('<urlset>').subarray(0, 12)))).rejects.toThrow('connection lost');
  });
});

describe('an endless file', () => {
  async function* endless(head: string, unit: string): AsyncGenerator<Uint8Array> {
    yield Buffer.from(head);
    const chunk = Buffer.from(unit.repeat(Math.ceil(65_536 / unit.length)));
    for (;;) yield chunk;
  }

  it('ends at the greatest number of URLs', async () => {
    expect(await read(endless('<urlset>', entry('https://a.test/')), { maxUrls: 1_000 })).toMatchObject({
      count: 1_000,
      truncated: true,
      reason: 'url-limit',
    });
    expect(await read(endless('', 'https://a.test/\n'), { maxUrls: 10 })).toMatchObject({
      count: 10,
      reason: 'url-limit',
    });
    const exact = await read(urlset(entry('https://a.test/').repeat(10)), { maxUrls: 10 });
    expect(exact).toMatchObject({ count: 10, ...WHOLE });
  });

  it('ends at the greatest number of bytes', async () => {
    const limits = { maxBytes: 300_000 };
    expect(await read(endless('<urlset>', '<x/>'), limits)).toMatchObject({
      reason: 'byte-limit',
      truncated: true,
    });
    const bomb = gzipSync(Buffer.concat([Buffer.from('<urlset>'), Buffer.alloc(50_000_000, '<x/>')]));
    expect(await read(bomb, limits)).toMatchObject({ reason: 'byte-limit', truncated: true });
  });

  it.each([
    ['text', '<urlset><url><loc>', 'a'],
    ['comment', '<!--', 'a'],
    ['document type', '<!DOCTYPE x [', 'a'],
    ['attribute', '<urlset a="', 'a'],
    ['pile of attributes', '<urlset ', 'a="" '],
    ['nest', '', '<a>'],
    ['nest in a sitemap', '<urlset>', '<a>'],
  ])('is given up when it is one %s', async (_name, head, unit) => {
    const found = await read(endless(head, unit));
    expect(found.reason).toMatch(/^(?:broken-xml: |not-a-sitemap)/);
  });

  it('expands no entities', async () => {
    const found = await read(
      `<!DOCTYPE u [<!ENTITY a "https://a.test/"><!ENTITY b "&a;&a;"><!ENTITY f SYSTEM "file:///etc/passwd">]>
       <urlset>${entry('https://example.com/&b;')}${entry('&f;')}</urlset>`,
    );
    expect(found.urls).toEqual(['https://example.com/&b;', '&f;']);
  });

  it('is closed when the reader has enough', async () => {
    let isClosed = false;
    const source = async function* (): AsyncGenerator<Uint8Array> {
      try {
        yield* endless('<urlset>', entry('https://a.test/'));
      } finally {
        isClosed = true;
      }
    };
    for await (const item of readSitemap(source())) if (item.kind === 'url') break;
    expect(isClosed).toBe(true);
  });
});
