import { describe, expect, it } from 'vitest';
import { compileRules } from './find-tasks.ts';
import type { RenderedPage } from './page-reading.ts';
import { decodeBody, readFeed, readPageTask } from './read-page.ts';
import { type RequestChanges, requestFor } from './read-request.fixture.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

function read(changes: RequestChanges) {
  const request = requestFor(changes);
  const reading = readPageTask(request, compileRules(request.job));
  const record = JSON.parse(Buffer.from(reading.page.record ?? []).toString()) as {
    links: { url: string; text: string }[];
  };
  return { ...reading, links: record.links.map(({ url }) => url) };
}

const rendered = (raw: string | null): RenderedPage => ({
  rawBody: raw === null ? null : bytes(raw),
  failure: null,
  extra: { screenshot: null, pdf: null, xhr: [], consoleErrors: [], actions: [] },
});

describe('the links of a rendered page', () => {
  const body = '<p>Shown</p><a href="/shown">s</a><a href="/both">b</a>';

  it('are those that it shows, and those that only its source has', () => {
    const raw =
      '<a href="/both">b</a><a href="/raw">r</a><link rel="canonical" href="/old"><meta http-equiv="refresh" content="0;url=/away">';
    const { links, discovered } = read({ body, response: { rendered: rendered(raw) } });
    const expected = ['http://site.test/shown', 'http://site.test/both', 'http://site.test/raw'];
    expect(links).toEqual(expected);
    expect(discovered.map(({ url }) => url)).toEqual(expected);
  });

  it('are those that it shows where its source is not known', () => {
    expect(read({ body, response: { rendered: rendered(null) } }).links).toHaveLength(2);
  });
});

describe('frames and shadow roots', () => {
  it('have links and text of the page', () => {
    const body =
      '<x-menu><template shadowrootmode="open"><a href="/shadow">In the shadow</a></template></x-menu>' +
      '<iframe src="https://frame.test/f" srcdoc="&lt;base href=&quot;https://frame.test/&quot;&gt;&lt;a href=&quot;inner&quot;&gt;In the frame&lt;/a&gt;"></iframe>';
    const { links, page } = read({ body });
    expect(links).toEqual(['http://site.test/shadow', 'https://frame.test/inner', 'https://frame.test/f']);
    expect(page.textHash).not.toBe(read({ body: body.replace('In the frame', 'Else') }).page.textHash);
  });
});

describe('a feed', () => {
  it('leads on to its items', async () => {
    const body =
      '<rss version="2.0"><channel><title>News</title><item><title>One</title><link>http://site.test/1</link></item></channel></rss>';
    const request = requestFor({ body, response: { contentType: 'application/rss+xml' } });
    const decoded = decodeBody(request);
    const reading = readPageTask(
      request,
      compileRules(request.job),
      null,
      null,
      decoded,
      await readFeed(request, decoded),
    );
    expect(reading.page.title).toBe('News');
    expect(reading.discovered.map(({ url }) => url)).toEqual(['http://site.test/1']);
  });
});
