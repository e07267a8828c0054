import { afterAll, describe, expect, test } from 'vitest';
import { inlineFrames } from '../../../extract/scan/inline-frames.ts';
import { serve } from '../../http/loopback.fixture.ts';
import { lastingBrowser, render, textOf } from '../browser.fixture.ts';

const { engine } = lastingBrowser({ maxBrowsers: 1, pagesAtOnce: 2, pagesEach: 2 });
afterAll(() => engine.close());

const site = (paths: Readonly<Record<string, string>>) =>
  serve((request, response) => {
    const body = paths[request.url ?? ''];
    response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(body === undefined ? 'nothing here' : `<!doctype html><title>t</title><body>${body}`);
  });
const frame = (src: string, size = 'width=400 height=300') => `<iframe src="${src}" ${size}></iframe>`;

async function read(paths: Readonly<Record<string, string>>) {
  const { origin } = await site(paths);
  const response = await render(engine, `${origin}/`);
  const html = textOf(response);
  return { origin, response, html, whole: inlineFrames(html, `${origin}/`).html };
}

describe('open shadow roots', () => {
  test('that scripts have attached are written down, one within the other, and the page keeps them', async () => {
    const script =
      "const outer = document.getElementById('a').attachShadow({ mode: 'open' });" +
      "outer.innerHTML = '<p>in the shadow</p><x-b></x-b>';" +
      "outer.querySelector('x-b').attachShadow({ mode: 'open' }).innerHTML = '<a href=/deep>deeper</a>';" +
      "document.getElementById('c').attachShadow({ mode: 'closed' }).innerHTML = '<p>closed</p>';";
    const { html } = await read({
      '/': `<x-a id=a><b>light</b></x-a><x-c id=c></x-c><script>${script}</script>`,
    });
    expect(html).toContain(
      '<x-a id="a"><template shadowrootmode="open"><p>in the shadow</p><x-b><template shadowrootmode="open">' +
        '<a href="/deep">deeper</a></template></x-b></template><b>light</b></x-a>',
    );
    expect(html).toContain('<x-c id="c"></x-c>');
  });
});

describe('frames', () => {
  test('of the same origin and of another one are read with the page, and what is relative in them stays so', async () => {
    const other = await site({ '/ad': '<p>from elsewhere</p><a href="next">on</a>' });
    const { whole, origin } = await read({
      '/': `<h1>Outer</h1>${frame('/in')}${frame(`${other.origin}/ad`)}`,
      '/in': `<p>inner words</p><a href="x/y">link</a>${frame('/nested')}`,
      '/nested': '<p>innermost words</p>',
    });
    for (const words of ['inner words', 'innermost words', 'from elsewhere']) {
      expect(whole).toContain(`<p>${words}</p>`);
    }
    expect(whole).toContain(`href="${origin}/x/y"`);
    expect(whole).toContain(`href="${other.origin}/next"`);
    expect(whole.indexOf('inner words')).toBeLessThan(whole.indexOf('from elsewhere'));
  });

  test('that are too small to be read, or hidden, are left out', async () => {
    const { html } = await read({
      '/': `${frame('/a', 'width=1 height=1')}${frame('/b', 'width=400 height=300 style="display: none"')}${frame('/c', 'width=400 height=300 style="visibility: hidden"')}`,
      '/a': '<p>tracker</p>',
      '/b': '<p>not shown</p>',
      '/c': '<p>not visible</p>',
    });
    expect(html).not.toMatch(/srcdoc|tracker|not shown|not visible/);
  });

  test('beyond the size of the page are left out, and the page is read', async () => {
    const { origin } = await site({
      '/': `<p>small</p>${frame('/in')}`,
      '/in': `<p>${'long '.repeat(4_000)}</p>`,
    });
    const response = await render(engine, `${origin}/`, { maxBodyBytes: 10_000 });
    expect(response.failure).toBeNull();
    expect(textOf(response)).toContain('<p>small</p>');
    expect(textOf(response)).not.toContain('long');
  });
});

test('a page without frames and shadow roots is read as it stands', async () => {
  const { html } = await read({ '/': '<p id=a>plain</p>' });
  expect(html).toMatch(/^<!DOCTYPE html><html>/);
  expect(html).not.toMatch(/srcdoc|shadowrootmode|<base/);
});
