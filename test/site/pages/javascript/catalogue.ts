import {
  type Answer,
  html,
  json,
  numberIn,
  type ReplyHeaders,
  reply,
  type SiteRequest,
} from '../../exchange.ts';
import { paragraph, sentence, titleOf } from '../../prose.ts';
import { randomFrom } from '../../random.ts';
import { linksOf } from '../big.ts';
import { PREFIX } from './shell.ts';

/**
 * A generated site whose pages are all made by one script from JSON, as large as the big one and linked like it. What is
 * the same on every page may be cached for an hour, as on real sites.
 */
const ROOT = `${PREFIX}catalogue/`;
const CACHED: ReplyHeaders = { 'cache-control': 'public, max-age=3600' };
const ITEMS = 40;
const PICTURES = 8;

const pathOf = (page: number): string => (page === 0 ? ROOT : ROOT + page);

const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>Catalogue</title>
<link rel="stylesheet" href="${ROOT}style.css">
</head>
<body>
<div id="app"></div>
<script src="${ROOT}app.js"></script>
</body>
</html>
`;

const STYLE = `body{font:16px/1.6 system-ui,sans-serif;margin:0;color:#1c2530}header{padding:1rem 2rem;background:#0b5cad;color:#fff}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(14rem,1fr));gap:1rem;padding:2rem}.card{border:1px solid #dde4ec;border-radius:.5rem;padding:1rem;box-shadow:0 2px 6px #0001}
.card img{width:64px;height:64px}.price{color:#b4512d;font-weight:bold}nav a{margin-right:1rem}
`;

/**
 * Builds elements from descriptions, the way frameworks do: they are compared with the page before anything is
 * changed.
 */
const APP = `const h = (tag, props, ...children) => ({ tag, props: props ?? {}, children: children.flat() });
const make = (node) => {
  if (typeof node === 'string') return document.createTextNode(node);
  const made = document.createElement(node.tag);
  for (const [name, value] of Object.entries(node.props)) made.setAttribute(name, value);
  for (const child of node.children) made.append(make(child));
  return made;
};
const patch = (parent, before, after, at = 0) => {
  const there = parent.childNodes[at];
  if (before === undefined) parent.append(make(after));
  else if (after === undefined) there.remove();
  else if (typeof after === 'string' || typeof before === 'string' || before.tag !== after.tag) {
    if (before !== after) there.replaceWith(make(after));
  } else {
    for (const [name, value] of Object.entries(after.props)) if (before.props[name] !== value) there.setAttribute(name, value);
    const most = Math.max(before.children.length, after.children.length);
    for (let child = most - 1; child >= 0; child--) {
      if (child < before.children.length) patch(there, before.children[child], after.children[child], child);
    }
    for (let child = before.children.length; child < most; child++) there.append(make(after.children[child]));
  }
};
const card = ({ name, about, price, picture, stars }) =>
  h('article', { class: 'card' }, h('img', { src: picture, alt: name }), h('h2', null, name), h('p', null, about),
    h('p', { class: 'price' }, new Intl.NumberFormat('en', { style: 'currency', currency: 'EUR' }).format(price)),
    h('p', null, '\\u2605'.repeat(stars)));
const view = ({ title, lead, items, links }) =>
  h('div', { id: 'page', 'data-ready': String(items.length > 0) }, h('header', null, h('h1', null, title)), h('p', { class: 'lead' }, lead),
    h('section', { class: 'grid' }, items.map(card)),
    h('nav', null, links.map(({ href, label }) => h('a', { href }, label))));
const app = document.getElementById('app');
let shown;
const show = (state) => {
  const next = view(state);
  patch(app, shown, next);
  shown = next;
};
show({ title: 'Loading', lead: '', items: [], links: [] });
const page = location.pathname.slice('${ROOT}'.length) || '0';
fetch('${PREFIX}api/catalogue/' + page).then((answer) => answer.json()).then((data) => {
  document.title = data.title;
  show({ ...data, items: data.items.toSorted((a, b) => a.price - b.price) });
});
`;

const picture = (number: number): Answer =>
  reply(
    200,
    'image/svg+xml',
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="hsl(${number * 45} 45% 90%)"/><circle cx="32" cy="32" r="${10 + number * 2}" fill="hsl(${number * 45} 45% 50%)"/></svg>`,
    CACHED,
  );

/** Returns null when there is no such page. */
export function answerCatalogue(segment: string, request: SiteRequest): Answer | null {
  if (segment === 'app.js') return reply(200, 'text/javascript; charset=utf-8', APP, CACHED);
  if (segment === 'style.css') return reply(200, 'text/css; charset=utf-8', STYLE, CACHED);
  const picked = /^(\d)\.svg$/.exec(segment)?.[1];
  if (picked !== undefined) return picture(Number(picked));
  return numberIn(segment || '0', request.pages - 1) === null ? null : html(SHELL);
}

export function catalogueData(segment: string | undefined, request: SiteRequest): Answer | null {
  const page = numberIn(segment, request.pages - 1);
  if (page === null) return null;
  const random = randomFrom(page ^ 0xca7a);
  return json({
    title: `Catalogue: ${titleOf(page)}`,
    lead: paragraph(random, 200),
    items: Array.from({ length: ITEMS }, (_, item) => ({
      name: titleOf(page * ITEMS + item),
      about: sentence(random),
      price: Math.round(random() * 50_000) / 100,
      picture: `${ROOT}${item % PICTURES}.svg`,
      stars: 1 + Math.floor(random() * 5),
    })),
    links: linksOf(page, request.pages).map((target) => ({ href: pathOf(target), label: titleOf(target) })),
  });
}
