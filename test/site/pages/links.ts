import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { html, pageIn, segmentsOf } from '../exchange.ts';
import { addressAt } from '../hosts.ts';
import { documentOf, escapeHtml, linkList } from '../layout.ts';

/** Links in every place HTML has for them. Each leads to `/links/to/<name>`, so that what was found can be counted. */
const PREFIX = '/links/';
const to = (name: string): string => `${PREFIX}to/${name}`;

const EVERYWHERE = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Links everywhere</title>
<link rel="canonical" href="${PREFIX}everywhere">
<link rel="next" href="${to('next')}"><link rel="prev" href="${to('prev')}">
<link rel="alternate" hreflang="de" href="${to('alternate-de')}">
<link rel="alternate" type="application/rss+xml" title="News" href="/sitemaps/rss.xml">
<link rel="stylesheet" href="${to('style.css')}"><link rel="icon" href="${to('icon.png')}">
</head><body>
<h1>Links everywhere</h1>
<a href="${to('plain')}">plain</a>
<A HREF='${to('upper-case')}'>upper case</A>
<a href=${to('no-quotes')}>no quotes</a>
<a href="  ${to('spaces')}
  ">spaces around</a>
<a href="to/relative">relative</a>
<a href="./to/./dots/../dots">dots</a>
<a href="?page=2">query only</a>
<a href="#part">fragment only</a>
<a href="${to('fragment')}#part">with fragment</a>
<a href="${to('entities')}?a=1&amp;b=2">entities</a>
<a href="${to('unicode-größe')}">unicode</a>
<a href="${to('two words')}">space inside</a>
<a href="${to('image-link')}"><img src="${to('image.png')}" alt="a picture"></a>
<map name="m"><area shape="rect" coords="0,0,1,1" href="${to('area')}" alt="area"></map>
<iframe src="${to('iframe')}"></iframe>
<img src="${to('src.png')}" srcset="${to('small.png')} 1x, ${to('large.png')} 2x" alt="">
<picture><source srcset="${to('wide.webp')} 800w"></picture>
<form method="get" action="${to('form-get')}"><input name="q"></form>
<form method="post" action="${to('form-post')}"><button>no</button></form>
<noscript><a href="${to('noscript')}">noscript</a></noscript>
<!-- <a href="${to('comment')}">in a comment</a> -->
<script>var s = '<a href="${to('script')}">in a script</a>';</script>
<template><a href="${to('template')}">in a template</a></template>
<svg><a href="${to('svg')}"><text>svg</text></a></svg>
<a href="mailto:someone@example.org">mail</a> <a href="tel:+123">phone</a>
<a href="javascript:void(0)">script</a> <a href="data:text/html,hi">data</a> <a href="ftp://example.org/">ftp</a>
<a href="http://">broken</a> <a href="http://[::1">broken</a> <a href="">empty</a> <a>none</a>
<a rel="nofollow" href="${to('nofollow')}">nofollow</a>
</body></html>
`;

function other(request: SiteRequest): Answer {
  const hosts = [1, 2, 3].map((n) => `http://${addressAt(n)}:${request.port}${PREFIX}`);
  return html(documentOf({ title: 'Links to other hosts', body: linkList(hosts) }));
}

/** A page on each of the first hosts (the query says how many), each linking to all the others. */
function ring(request: SiteRequest): Answer {
  const count = Math.min(Number(request.query) || 20, 1_000);
  const hosts = Array.from(
    { length: count },
    (_, n) => `http://${addressAt(n)}:${request.port}${PREFIX}ring?${count}`,
  );
  return html(documentOf({ title: `Ring at ${request.host}`, body: linkList(hosts) }));
}

const PAGES: Readonly<Record<string, (request: SiteRequest) => Answer>> = {
  '': () =>
    html(
      documentOf({
        title: 'Links',
        body: linkList([`${PREFIX}everywhere`, `${PREFIX}base`, `${PREFIX}refresh`, `${PREFIX}frames`]),
      }),
    ),
  everywhere: () => html(EVERYWHERE),
  base: () =>
    html(
      documentOf({
        title: 'With a base',
        head: `<base href="${PREFIX}to/">\n`,
        body: '<a href="based">based</a>',
      }),
    ),
  'base-elsewhere': () =>
    html(
      documentOf({
        title: 'With a base on another host',
        head: '<base href="http://example.org/">\n',
        body: '<a href="based">based</a>',
      }),
    ),
  refresh: () =>
    html(
      documentOf({
        title: 'Refresh',
        head: `<meta http-equiv="refresh" content="5;URL='${to('refreshed')}'">\n`,
        body: '',
      }),
    ),
  frames: () =>
    html(
      `<!doctype html><html><head><title>Frames</title></head><frameset cols="50%,50%"><frame src="${to('frame-a')}"><frame src="${to('frame-b')}"></frameset></html>`,
    ),
  other,
  ring,
};

export const links: Family = {
  prefix: PREFIX,
  about: 'links in every place HTML has for them',
  starts: [PREFIX],
  answer(request) {
    const [first = '', second = ''] = segmentsOf(request, PREFIX);
    if (first === 'to') {
      return html(documentOf({ title: `Reached ${second}`, body: `<p>${escapeHtml(request.path)}</p>` }));
    }
    return pageIn(PAGES, first)?.(request) ?? null;
  },
};
