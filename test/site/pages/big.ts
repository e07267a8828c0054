import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { numberIn, redirect } from '../exchange.ts';
import { paragraph, titleOf } from '../prose.ts';
import { randomFrom } from '../random.ts';

/**
 * The large generated site: `/big/` is page 0, `/big/7` page 7. A page's bytes depend on its number and the page
 * count alone, not on host or port, so runs on different ports can be compared by content hash. Pages are made when
 * asked for: a few kilobytes of their own between ready blocks of prose, cheap enough that none needs to be kept.
 */
export const LINKS_PER_PAGE = 30;
const CHILDREN = 4;
const BLOCKS_PER_PAGE = 5;

export const pathOfPage = (page: number): string => (page === 0 ? '/big/' : `/big/${page}`);

/**
 * The pages that a page links to: home, its parent and its children in a tree with four branches, which makes every
 * page reachable within a few clicks, and chance for the rest. Never itself, none twice.
 */
export function linksOf(page: number, pages: number): readonly number[] {
  const wanted = Math.min(LINKS_PER_PAGE, pages - 1);
  const links: number[] = [];
  const add = (target: number): void => {
    if (target !== page && target < pages && !links.includes(target)) links.push(target);
  };
  for (let child = 1; child <= CHILDREN && links.length < wanted; child++) add(page * CHILDREN + child);
  if (page > 0 && links.length < wanted) add(0);
  if (page > 0 && links.length < wanted) add(Math.floor((page - 1) / CHILDREN));
  if (pages <= LINKS_PER_PAGE * 2) {
    for (let target = 0; links.length < wanted; target++) add(target);
  }
  const random = randomFrom(page * 2_654_435_761 + 1);
  while (links.length < wanted) add(Math.floor(random() * pages));
  return links;
}

const BLOCKS: readonly Buffer[] = Array.from({ length: 64 }, (_, block) => {
  const random = randomFrom(0xb10c + block);
  let made = '';
  for (let part = 0; part < 3; part++) {
    made +=
      `<h2 class="section-title">${titleOf(block * 3 + part)}</h2>\n` +
      `<p class="lead" data-block="${block}">${paragraph(random, 470)}</p>\n` +
      `<p>Prices from €${10 + block} – “${paragraph(random, 450)}”</p>\n`;
  }
  return Buffer.from(`<section class="chapter">\n${made}</section>\n`);
});

const TAIL = Buffer.from(
  '</article>\n<footer class="site-footer"><p>© The Big Site. All stones turned.</p>' +
    '<p>Imprint · Privacy · Terms</p></footer>\n' +
    '<script>document.documentElement.classList.add("ready");</script>\n</body>\n</html>\n',
);

/** What is the page's own; plain ASCII, so that it can be written as Latin-1. */
function frontOf(page: number, pages: number): string {
  const title = titleOf(page);
  const path = pathOfPage(page);
  const links = linksOf(page, pages);
  let nav = '';
  let list = '';
  for (let at = 0; at < links.length; at++) {
    const target = links[at] ?? 0;
    if (at < 6) nav += `<a class="nav-item" href="${pathOfPage(target)}">Page ${target}</a>\n`;
    else
      list += `<li class="related-item"><a href="${pathOfPage(target)}" title="Go to page ${target}">${titleOf(target)}</a></li>\n`;
  }
  return (
    '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n' +
    `<title>${title} | The Big Site</title>\n` +
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n' +
    `<meta name="description" content="All about ${title}, with ${links.length} ways to go on.">\n` +
    `<meta name="robots" content="index, follow">\n<link rel="canonical" href="${path}">\n` +
    `<meta property="og:type" content="article">\n<meta property="og:title" content="${title}">\n` +
    `<meta property="og:url" content="${path}">\n<meta property="og:site_name" content="The Big Site">\n` +
    `<meta property="og:image" content="/big/images/${page % 100}.jpg">\n` +
    '<meta name="twitter:card" content="summary">\n' +
    `<meta name="twitter:title" content="${title}">\n` +
    `<script type="application/ld+json">{"@context":"https://schema.org","@type":"Article","headline":"${title}",` +
    `"position":${page},"author":{"@type":"Person","name":"A. Writer"},"datePublished":"2024-0${1 + (page % 9)}-1${page % 10}"}</script>\n` +
    '<style>body{font-family:sans-serif;margin:0 auto;max-width:60em}.nav-item{margin-right:1em}</style>\n' +
    `</head>\n<body>\n<header class="site-header">\n<nav aria-label="Main">\n${nav}</nav>\n</header>\n` +
    `<article>\n<h1>${title}</h1>\n<ul class="related">\n${list}</ul>\n`
  );
}

/** The bytes of one page, about 21 KB. */
export function renderPage(page: number, pages: number): Buffer {
  const front = frontOf(page, pages);
  const random = randomFrom(page + 77);
  const first = Math.floor(random() * BLOCKS.length);
  const step = 1 + 2 * Math.floor(random() * 16);
  let length = front.length + TAIL.length;
  for (let at = 0; at < BLOCKS_PER_PAGE; at++) length += blockAt(first + at * step).length;
  const bytes = Buffer.allocUnsafe(length);
  let end = bytes.write(front, 0, 'latin1');
  for (let at = 0; at < BLOCKS_PER_PAGE; at++) {
    const block = blockAt(first + at * step);
    bytes.set(block, end);
    end += block.length;
  }
  bytes.set(TAIL, end);
  return bytes;
}

function blockAt(at: number): Buffer {
  return BLOCKS[at % BLOCKS.length] ?? TAIL;
}

const HEADERS = { 'content-type': 'text/html; charset=utf-8' } as const;

export const big: Family = {
  prefix: '/big/',
  about: 'a large generated site: 21 KB pages, 30 links each',
  starts: ['/big/'],
  answer(request: SiteRequest): Answer | null {
    const name = request.path.slice(5);
    if (name === '0') return redirect('/big/', 301);
    const page = name === '' ? 0 : numberIn(name, request.pages - 1);
    if (page === null || (name !== '' && name !== String(page))) return null;
    return { status: 200, headers: HEADERS, body: renderPage(page, request.pages) };
  },
};
