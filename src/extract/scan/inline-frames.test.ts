import { escapeAttribute } from 'entities/escape';
import { describe, expect, test } from 'vitest';
import { extractPage } from './extract-page.ts';
import { FRAME_LIMITS, inlineFrames } from './inline-frames.ts';

const URL = 'https://site.example/dir/page';
const frame = (document: string, more = '') =>
  `<iframe ${more} srcdoc="${escapeAttribute(document)}"></iframe>`;

describe('the document that a frame carries', () => {
  test('is part of the page: its text and its links, with their own base', () => {
    const inner =
      '<html><head><base href="https://other.example/a/"><title>Inner</title><meta name="robots" content="noindex"></head>' +
      '<body><p>In the <b>frame</b></p><a href="b?x=1&amp;y=2">Next</a><script>alert(1)</script></body></html>';
    const { html, isCut } = inlineFrames(
      `<title>Outer</title><p>Before</p>${frame(inner, 'src="/f"')}<p>After</p>`,
      URL,
    );
    expect(isCut).toBe(false);
    expect(html).toContain('<div data-frame-src="/f"><p>In the <b>frame</b></p>');
    expect(html).not.toContain('alert(1)</script></div>');
    const extracted = extractPage({
      text: html,
      charset: 'utf-8',
      url: URL,
      contentType: 'text/html',
      linkHeader: null,
      xRobotsTag: null,
      formats: ['metadata', 'html'],
    });
    expect(extracted).toMatchObject({ title: 'Outer', robots: { isNoindex: false } });
    expect(extracted.links.map(({ url }) => url)).toEqual([
      'https://other.example/a/b?x=1&y=2',
      'https://site.example/f',
    ]);
    expect(extracted.html).toMatch(/Before.*In the.*After/s);
    expect(extracted.html).not.toContain('srcdoc');
  });

  test('without a base of its own has that of the page', () => {
    const html = inlineFrames(`<base href="/other/"><body>${frame('<a href="x">x</a>')}`, URL).html;
    expect(html).toContain('href="https://site.example/other/x"');
  });

  test('may have frames itself, to a depth', () => {
    const nested = (depth: number): string =>
      `<p>level ${depth}</p>${depth < 6 ? frame(nested(depth + 1)) : ''}`;
    const found = inlineFrames(nested(0), URL);
    const html = found.html.replaceAll(/srcdoc="[^"]*"/g, '');
    expect(found.isCut).toBe(true);
    for (let depth = 0; depth <= FRAME_LIMITS.depth; depth++) expect(html).toContain(`<p>level ${depth}</p>`);
    expect(html).not.toContain(`<p>level ${FRAME_LIMITS.depth + 1}</p>`);
  });

  test('counts for a number of frames and characters only', () => {
    const many = inlineFrames(frame('<i>one</i>').repeat(FRAME_LIMITS.frames + 5), URL);
    expect(many.isCut).toBe(true);
    expect(many.html.match(/<div><i>one<\/i><\/div>/g)).toHaveLength(FRAME_LIMITS.frames);
    const long = inlineFrames(frame(`<p>${'x'.repeat(FRAME_LIMITS.chars)}</p>`), URL);
    expect(long.isCut).toBe(true);
    expect(long.html).not.toContain('<div>');
  });
});

test('a page without such frames is not touched', () => {
  for (const html of [
    '<iframe src="/a"></iframe>',
    '<!-- <iframe srcdoc="x"></iframe> -->',
    '<script>"<iframe srcdoc=x>"</script>',
    '<iframe srcdoc=""></iframe>',
  ]) {
    expect(inlineFrames(html, URL).html).toBe(html);
  }
});
