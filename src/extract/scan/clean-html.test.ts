import { describe, expect, it } from 'vitest';
import { BaseUrl } from '../html/links.ts';
import { HtmlScanner } from '../html/scanner.ts';
import { cleanHtml } from './clean-html.ts';

const base = BaseUrl.parse('https://example.com/dir/') ?? BaseUrl.NOWHERE;
const clean = (html: string) => cleanHtml(new HtmlScanner(), html, base).html;

describe('cleanHtml', () => {
  it('drops scripts, styles, noscript, templates, comments, base and hidden inputs', () => {
    expect(
      clean(`<!doctype html><base href=/><!-- c --><p>a<script>b</script><style>c</style><noscript><b>d</b></noscript>
<template><i>e<template></template></i></template><input type=HIDDEN><input name=q><link rel="preload stylesheet" href=x></p>`),
    ).toBe('<p>a\n<input name="q"></p>');
  });

  it('drops event handlers, repeated attributes and addresses that run something', () => {
    expect(clean(`<a href="javascript:x" onclick="y" ONFOCUS=z class='c"d' CLASS=e>t</a>`)).toBe(
      '<a class="c&quot;d">t</a>',
    );
    expect(clean('<a href=" java&#10;script:x">')).toBe('<a>');
    expect(clean('<iframe srcdoc="<script>" src="data:text/html,x">in</iframe>')).toBe('<iframe></iframe>');
    expect(clean('<img src="data:image/png;base64,xx">')).toBe('<img src="data:image/png;base64,xx">');
  });

  it('makes addresses absolute', () => {
    expect(clean('<a href=x?a=1&b=2>')).toBe('<a href="https://example.com/dir/x?a=1&amp;b=2">');
    expect(clean('<a href="#f"><a href="mailto:a@b.c">')).toBe('<a href="#f"><a href="mailto:a@b.c">');
    expect(clean('<img src=/i srcset="a 1x, /b 2x" alt>')).toBe(
      '<img src="https://example.com/i" srcset="https://example.com/dir/a 1x, https://example.com/b 2x" alt>',
    );
    expect(clean('<form action=f></form>')).toBe('<form action="https://example.com/dir/f"></form>');
  });

  it('keeps the rest as it is', () => {
    const html = '<title>A &amp; B</title><p title="x &amp; y">1 &lt; 2 <x-y>z</x-y><textarea><b></textarea>';
    expect(clean(html)).toBe(html);
    expect(clean('<svg viewBox="0 0 1 1"><linearGradient id="g"/><script/></svg><P>x</P>')).toBe(
      '<svg viewBox="0 0 1 1"><linearGradient id="g"/></svg><p>x</p>',
    );
  });

  it('goes on after dropped elements that are never closed', () => {
    expect(clean('<div><noscript>a</div><p>b')).toBe('<div></div><p>b');
  });

  it('does not let absolute addresses blow a page up', () => {
    const far = BaseUrl.parse(`https://example.com/${'x'.repeat(3_000)}/`) ?? BaseUrl.NOWHERE;
    const result = cleanHtml(new HtmlScanner(), '<a href=y>'.repeat(20_000), far);
    expect(result.isTruncated).toBe(true);
    expect(result.html.length).toBeLessThan(2_000_000);
  });
});
