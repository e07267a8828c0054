import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeText } from '../charset/charset.ts';
import type { DocumentContent } from './document-content.ts';
import { DOCUMENT_LIMITS } from './document-limits.ts';
import { readDocument } from './read-document.ts';

const read = async (body: string, type = 'application/xml'): Promise<DocumentContent> => {
  const options = { decode: decodeText, fetchedAt: Date.parse('2026-11-12T10:00:00Z') };
  const found = await readDocument(Buffer.from(body), type, 'https://blog.example/feed/', options);
  if (found === null) throw new Error('it was taken for a page');
  return found;
};

const RSS = `<?xml version="1.0" encoding="UTF-8"?>
<rss version="2.0" xmlns:content="http://purl.org/rss/1.0/modules/content/" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:atom="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/">
<channel>
  <title>Notes &amp; more</title><link>https://blog.example/</link>
  <atom:link href="https://blog.example/feed/" rel="self" type="application/rss+xml"/>
  <atom:link href="?page=2" rel="next"/>
  <description>About &lt;b&gt;everything&lt;/b&gt;</description><language>en-gb</language>
  <lastBuildDate>Tue, 10 Nov 2026 09:00:00 GMT</lastBuildDate>
  <image><url>/logo.png</url><title>Logo</title><link>https://blog.example/</link></image>
  <item>
    <title><![CDATA[First <em>post</em> & co]]></title>
    <link>https://blog.example/first</link>
    <guid isPermaLink="false">urn:1</guid>
    <pubDate>Mon, 09 Nov 2026 08:30:00 +0100</pubDate>
    <dc:creator>Ada</dc:creator><category>News</category><category>Tech</category><category>News</category>
    <description>&lt;p&gt;Short &amp;amp; sweet.&lt;/p&gt;</description>
    <content:encoded><![CDATA[<p>Long &amp; <b>sweet</b>.</p>]]></content:encoded>
    <enclosure url="/a.mp3" type="audio/mpeg" length="1234"/>
    <media:thumbnail url="https://img.example/t.jpg"/>
  </item>
  <item>
    <guid>https://blog.example/second</guid>
    <description>Only a description, without a title</description>
    <author>bob@example.com (Bob)</author>
    <pubDate>2026-11-08</pubDate>
  </item>
</channel></rss>`;

const ATOM = `<feed xmlns="http://www.w3.org/2005/Atom" xml:lang="de">
  <title type="html">Atom &lt;i&gt;feed&lt;/i&gt;</title><subtitle>Untertitel</subtitle>
  <link rel="self" href="https://blog.example/feed/"/><link href="/"/>
  <updated>2026-11-10T12:00:00Z</updated><author><name>Eva</name><email>eva@example.com</email></author><icon>/icon.png</icon>
  <entry>
    <id>tag:blog.example,2026:1</id><title>Eins</title>
    <link rel="edit" href="/edit/1"/><link rel="alternate" type="text/html" href="eins"/>
    <link rel="enclosure" href="/eins.zip" type="application/zip" length="10"/>
    <published>2026-11-09T10:00:00+01:00</published><updated>2026-11-10T10:00:00+01:00</updated>
    <author><name>Eva</name></author><author><name>Max</name></author>
    <category term="t1" label="Thema"/><category term="t2"/>
    <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>Hallo <a href="/x">Welt</a><br/>neu</p></div></content>
  </entry>
</feed>`;

const RDF = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/" xmlns:dc="http://purl.org/dc/elements/1.1/">
  <channel rdf:about="https://blog.example/"><title>Old</title><link>https://blog.example/</link></channel>
  <item rdf:about="https://blog.example/1"><title>One</title><link>https://blog.example/1</link><dc:date>2026-11-01T00:00:00Z</dc:date></item>
</rdf:RDF>`;

describe('a feed', () => {
  it('in RSS 2.0 is read with all that it says', async () => {
    const found = await read(RSS);
    expect(found).toMatchObject({ kind: 'feed', title: 'Notes & more', language: 'en-gb', problems: [] });
    expect(found.feed).toEqual({
      format: 'rss',
      version: '2.0',
      title: 'Notes & more',
      description: 'About everything',
      url: 'https://blog.example/',
      nextUrl: 'https://blog.example/feed/?page=2',
      language: 'en-gb',
      author: null,
      image: 'https://blog.example/logo.png',
      modifiedAt: '2026-11-10T09:00:00.000Z',
      items: [
        {
          id: 'urn:1',
          url: 'https://blog.example/first',
          title: 'First post & co',
          summary: 'Short & sweet.',
          html: '<p>Long &amp; <b>sweet</b>.</p>',
          author: 'Ada',
          publishedAt: '2026-11-09T08:30:00+01:00',
          modifiedAt: null,
          categories: ['News', 'Tech'],
          image: 'https://img.example/t.jpg',
          enclosures: [{ url: 'https://blog.example/a.mp3', type: 'audio/mpeg', bytes: 1234 }],
        },
        {
          id: 'https://blog.example/second',
          url: 'https://blog.example/second',
          title: null,
          summary: 'Only a description, without a title',
          html: null,
          author: 'Bob',
          publishedAt: '2026-11-08',
          modifiedAt: null,
          categories: [],
          image: null,
          enclosures: [],
        },
      ],
    });
    expect(found.links.map(({ url }) => url)).toEqual([
      'https://blog.example/first',
      'https://blog.example/a.mp3',
      'https://blog.example/second',
      'https://blog.example/feed/?page=2',
      'https://blog.example/',
    ]);
    expect(found.markdown).toContain(
      '## [First post & co](https://blog.example/first)\n\n*2026-11-09T08:30:00+01:00 · Ada*',
    );
    expect(found.text).toContain(
      'First post & co\nhttps://blog.example/first\n2026-11-09T08:30:00+01:00 · Ada\nShort & sweet.',
    );
  });

  it('in Atom is read with all that it says', async () => {
    const { feed } = await read(ATOM, 'application/atom+xml');
    expect(feed).toMatchObject({
      format: 'atom',
      title: 'Atom feed',
      description: 'Untertitel',
      url: 'https://blog.example/',
      language: 'de',
      author: 'Eva',
      image: 'https://blog.example/icon.png',
      modifiedAt: '2026-11-10T12:00:00.000Z',
    });
    expect(feed?.items).toEqual([
      {
        id: 'tag:blog.example,2026:1',
        url: 'https://blog.example/feed/eins',
        title: 'Eins',
        summary: 'Hallo Welt\nneu',
        html: expect.stringContaining('<p>Hallo <a href="/x">Welt</a><br>neu</p>'),
        author: 'Eva, Max',
        publishedAt: '2026-11-09T10:00:00+01:00',
        modifiedAt: '2026-11-10T10:00:00+01:00',
        categories: ['Thema', 't2'],
        image: null,
        enclosures: [{ url: 'https://blog.example/eins.zip', type: 'application/zip', bytes: 10 }],
      },
    ]);
  });

  it('in Atom with a prefix on everything is the same', async () => {
    const prefixed = ATOM.replace(
      /<(\/?)(feed|title|subtitle|link|updated|author|name|email|icon|entry|id|published|category|content)\b/g,
      '<$1a:$2',
    );
    expect((await read(prefixed)).feed?.items).toMatchObject([
      { title: 'Eins', url: 'https://blog.example/feed/eins', author: 'Eva, Max' },
    ]);
  });

  it('in RSS 1.0 has its items beside the channel', async () => {
    expect((await read(RDF)).feed).toMatchObject({
      format: 'rdf',
      title: 'Old',
      items: [{ title: 'One', url: 'https://blog.example/1', publishedAt: '2026-11-01T00:00:00.000Z' }],
    });
  });

  it('in JSON is read, odd values passed over', async () => {
    const source = JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      title: 'J',
      home_page_url: '/',
      authors: [{ name: 'Ann' }, { url: 'https://x.example' }],
      items: [
        {
          id: 7,
          url: '/1',
          title: 'One',
          content_text: 'a < b',
          date_published: '2026-11-09T10:00:00Z',
          tags: ['x', 3],
          attachments: [{ url: '/f.mp3', mime_type: 'audio/mpeg', size_in_bytes: 5 }],
        },
        'no item',
        {
          id: '2',
          external_url: 'https://elsewhere.example/',
          content_html: '<p>Text',
          title: { odd: true },
        },
      ],
    });
    const found = await read(source, 'application/feed+json');
    expect(found.kind).toBe('feed');
    expect(found.json).toBeDefined();
    expect(found.feed).toMatchObject({
      format: 'json',
      version: '1.1',
      title: 'J',
      url: 'https://blog.example/',
      author: 'Ann',
      items: [
        {
          id: '7',
          url: 'https://blog.example/1',
          summary: 'a < b',
          categories: ['x', '3'],
          publishedAt: '2026-11-09T10:00:00.000Z',
        },
        { id: '2', url: 'https://elsewhere.example/', title: null, summary: 'Text', html: '<p>Text' },
      ],
    });
  });

  it.each([
    ['an entity that XML does not know', '<title>A&nbsp;b &copy; &unknown;</title>', 'A b © &unknown;'],
    ['an ampersand that begins nothing', '<title>A & B</title>', 'A & B'],
    ['mark-up that is not closed', '<title>A</title><description><p>x<br>y</description>', 'A'],
    ['a tag that is never closed', '<title>A</title><link>/x', 'A'],
  ])('with %s is read all the same', async (_name, inside, title) => {
    const found = await read(
      `<rss version="2.0"><channel><title>T</title><item>${inside}</item></channel></rss>`,
    );
    expect(found.feed?.items[0]?.title?.replace(/\u00a0/g, ' ')).toBe(title);
  });

  it('that was cut keeps the items before', async () => {
    const found = await read(RSS.slice(0, RSS.indexOf('<author>')));
    expect(found.feed?.items).toHaveLength(2);
    expect(found.problems.map(({ code }) => code)).toEqual(['xml-broken']);
  });

  it('with too many items is cut there', async () => {
    const items = '<item><title>x</title></item>'.repeat(DOCUMENT_LIMITS.feedItems + 3);
    const found = await read(`<rss><channel>${items}</channel></rss>`);
    expect(found.feed?.items).toHaveLength(DOCUMENT_LIMITS.feedItems);
    expect(found.problems.map(({ code }) => code)).toEqual(['feed-too-large']);
  });

  it('gives back the titles and links that were put into it', async () => {
    const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    const word = fc
      .stringMatching(/^[\p{L}\d][\p{L}\d ,.&-]{0,30}$/u)
      .map((text) => text.replace(/\s+/g, ' ').trim());
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(word, fc.webPath()), { maxLength: 10 }), async (items) => {
        fc.pre(items.every(([title]) => title !== '' && !/&\w+;/.test(title)));
        const body = items.map(
          ([title, path]) =>
            `<item><title>${escaped(title)}</title><link>https://x.example/p${escaped(path)}</link></item>`,
        );
        const { feed } = await read(`<rss version="2.0"><channel>${body.join('')}</channel></rss>`);
        expect(feed?.items.map(({ title }) => title)).toEqual(items.map(([title]) => title));
        expect(feed?.items.map(({ url }) => url)).toEqual(
          items.map(([, path]) => new URL(`https://x.example/p${path}`).href),
        );
      }),
      { numRuns: 100 },
    );
  });
});
