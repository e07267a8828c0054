/** Something that is small to write down and made to cost much, as often as it is wanted. */
export type Bomb = (times: number) => string;

const cycle = (times: number) =>
  `{"@graph":[${Array.from({ length: times }, (_, at) => `{"@id":"#${at}","@type":"Product","a":[{"@id":"#${(at + 1) % times}"},{"@id":"#${(at * 7) % times}"}]}`).join(',')}]}`;

/** Each meets a part of extraction where it would hurt without a limit. */
export const BOMBS: readonly Bomb[] = [
  (times) => '<div>'.repeat(times),
  (times) => `<table>${'<tr><td><table>'.repeat(times)}`,
  (times) => `<ul>${'<li><ul>'.repeat(times)}x`,
  (times) => '<b><i><a href=x>'.repeat(times),
  (times) => '<p>'.repeat(times) + '</div>'.repeat(times),
  (times) => `<div itemscope>${'<div itemscope itemprop="a b c">'.repeat(times)}x`,
  (times) => `<div typeof=A>${'<div typeof=B property="a b c">'.repeat(times)}x`,
  (times) => '<p id=a itemscope itemprop=x itemref="a b"></p><p id=b itemscope itemref="a b">'.repeat(times),
  (times) =>
    `<p id=a>${'<i itemprop=x>1</i>'.repeat(times)}</p>${'<p itemscope itemref=a></p>'.repeat(times)}`,
  (times) =>
    '<p typeof=T resource="#a"><i property="b c" resource="#b"></i></p><p about="#b" property=a>'.repeat(
      times,
    ),
  (times) => `<script type="application/ld+json">${'{"a":['.repeat(times)}`,
  (times) => `<script type="application/ld+json">${cycle(Math.min(times, 2_000))}</script>`,
  (times) => `<script>window.__STATE__=${'[{"a":'.repeat(times)}`,
  (times) => `<script id="__NEXT_DATA__" type="application/json">{"a":"${'\\"'.repeat(times)}`,
  (times) => `<p ${'a="b" '.repeat(times)}>`,
  (times) => `<p class="${'x '.repeat(times)}">`,
  (times) => `<p>${'&amp;'.repeat(times)}</p>`,
  (times) => `<p>${'1.234,56 € '.repeat(times)}</p>`,
  (times) => `<time>${'3 March '.repeat(times)}</time><p class=price>${'$'.repeat(times)}</p>`,
  (times) => `<title>${' '.repeat(times)}</title><h1>${'a '.repeat(times)}</h1>`,
  (times) => '<meta property="og:image" content="/a"><link rel=alternate hreflang=de href=/b>'.repeat(times),
  (times) => `<nav class=breadcrumb>${'<a href=/a>b</a> › '.repeat(times)}</nav>`,
  (times) => '<!--'.repeat(times),
  (times) => '<svg><title>'.repeat(times),
  (times) => `<pre>${'*_`[<code>'.repeat(times)}`,
];
