import { describe, expect, test } from 'vitest';
import type { DeepRecord, PartOptions } from '../../core/model/extraction.ts';
import type { Format } from '../../core/model/job.ts';
import { decodeText } from '../charset/charset.ts';
import { extractFull } from './extract-full.ts';
import { compileParts } from './page-parts.ts';

const STORY = 'The ferry to the islands leaves at noon and returns in the evening with the fishermen. ';
const PAGE = `<!doctype html><html lang="en"><head><title>Ferry</title><style>p { color: red }</style></head><body>
<nav><ul><li><a href="/">Start</a></li><li><a href="/prices">Prices</a></li></ul></nav>
<main><h1>Ferry</h1><p>${STORY.repeat(6)}</p><p class="note">Dogs travel <b>free</b>.</p></main>
<aside class="advert"><p>Buy a boat today and save a lot of money on the next crossing.</p></aside>
<footer><p>Harbour office, pier 3</p></footer><script>var hidden = 1;</script><noscript>Turn scripts on</noscript></body></html>`;
const ALL: readonly Format[] = ['text', 'markdown', 'content', 'html'];

async function read(parts: Partial<PartOptions>, html = PAGE): Promise<DeepRecord> {
  const page = {
    bytes: new TextEncoder().encode(html),
    html,
    isHtml: true,
    url: 'https://ferry.example/',
    contentType: 'text/html',
    contentLanguage: null,
    linkHeader: null,
    fetchedAt: 0,
    decode: decodeText,
  };
  const wanted = { onlyMain: true, includeTags: [], excludeTags: [], ...parts };
  const options = { formats: ALL, type: null, rules: null, hasLlm: false, parts: compileParts(wanted) };
  return (await extractFull(page, options)).record;
}

describe('the whole page', () => {
  test('keeps navigation, footer and asides in Markdown, text and content, without scripts and styles', async () => {
    const { text, markdown, content, html } = await read({ onlyMain: false });
    for (const part of ['Start', 'Prices', 'Harbour office, pier 3', 'Buy a boat', 'Dogs travel']) {
      expect(text).toContain(part);
      expect(content?.html).toContain(part);
      expect(markdown).toContain(part);
    }
    expect(markdown).toContain('- [Prices](https://ferry.example/prices)');
    for (const written of [text, markdown, content?.html]) {
      expect(written).not.toMatch(/hidden = 1|color: red|Turn scripts on/);
    }
    // The one pass over every page gives the whole page as HTML.
    expect(html).toBeUndefined();
  });

  test('may be without some elements', async () => {
    const { text, html } = await read({ onlyMain: false, excludeTags: ['.advert', 'nav'] });
    expect(text).toContain('Harbour office');
    expect(text).not.toMatch(/Buy a boat|Prices/);
    expect(html).toContain('Harbour office');
    expect(html).not.toMatch(/Buy a boat|Prices|<nav|hidden = 1/);
  });
});

describe('selected elements', () => {
  test('are the content, whatever they look like, once each and in document order', async () => {
    const { text, markdown, html } = await read({ includeTags: ['footer p', 'nav', 'nav a'] });
    expect(text).toBe('- Start\n- Prices\n\nHarbour office, pier 3');
    expect(markdown).toContain('[Start](https://ferry.example/)');
    expect(html).toMatch(/^<nav>.*<\/nav><p>Harbour office, pier 3<\/p>$/s);
    expect(html).toContain('href="https://ferry.example/prices"');
  });

  test('lose what is excluded inside of them', async () => {
    const { text } = await read({ includeTags: ['main'], excludeTags: ['.note', 'h1'] });
    expect(text).toContain('The ferry to the islands');
    expect(text).not.toMatch(/Dogs|^Ferry/);
  });

  test('are nothing when no element matches', async () => {
    expect(await read({ includeTags: ['.no-such'] })).toMatchObject({ text: '', markdown: '', html: '' });
  });
});

test('the main content is found in what removed elements leave', async () => {
  const { text, content } = await read({ excludeTags: ['.note'] });
  expect(text).toContain('The ferry to the islands');
  expect(text).not.toMatch(/Dogs|Harbour/);
  expect(content?.title).toBe('Ferry');
});

test('the content of a declarative shadow root is content', async () => {
  const card =
    '<x-card><template shadowrootmode="open"><p>In the shadow: sails from pier 7.</p></template></x-card>';
  const { text } = await read(
    { includeTags: ['main'] },
    PAGE.replace('<p class="note">', `${card}<p class="note">`),
  );
  expect(text).toContain('In the shadow: sails from pier 7.');
});
