import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { html, numberIn, segmentsOf } from '../exchange.ts';
import { documentOf, link, linkList } from '../layout.ts';
import { sentence } from '../prose.ts';
import { randomFrom, seedOf } from '../random.ts';

/** Webs without end. Every page of them is small and answers 200; only scope, depth and budgets stop a crawl. */
const PREFIX = '/traps/';

const filler = (key: string): string => `<p>${sentence(randomFrom(seedOf(key)))}</p>`;
const two = (value: number): string => String(value).padStart(2, '0');

/** A calendar: every month links to the next and the one before, and to each of its days. */
function calendar(year: number, month: number): Answer {
  const monthPath = (offset: number): string => {
    const at = year * 12 + (month - 1) + offset;
    return `${PREFIX}calendar/${Math.floor(at / 12)}/${two((at % 12) + 1)}`;
  };
  const days = Array.from({ length: 28 }, (_, day) => `${monthPath(0)}/${two(day + 1)}`);
  const body = `<p>${link(monthPath(-1), 'previous')} ${link(monthPath(1), 'next month')}</p>${linkList(days)}`;
  return html(documentOf({ title: `Calendar ${year}-${two(month)}`, body }));
}

function day(path: string): Answer {
  return html(documentOf({ title: `Nothing on ${path.slice(-10)}`, body: `<p>No events.</p>${link('./')}` }));
}

/** Every visit without a session gets links with a new one: the same five pages under ever new addresses. */
function session(request: SiteRequest, where: 'query' | 'path'): Answer {
  const visit = request.countVisit();
  const id = seedOf(`${request.path}?${request.query}#${visit}`).toString(16).padStart(8, '0');
  const pages = ['home', 'news', 'about', 'help', 'terms'];
  const hrefs = pages.map((name) =>
    where === 'query'
      ? `${PREFIX}session-query/${name}?PHPSESSID=${id}`
      : `${PREFIX}session-path/${name};jsessionid=${id}`,
  );
  const name = request.path.split('/').at(-1)?.split(';')[0] ?? 'home';
  return html(documentOf({ title: `Session page ${name}`, body: filler(name) + linkList(hrefs) }));
}

const FACETS: Readonly<Record<string, readonly string[]>> = {
  colour: ['red', 'green', 'blue'],
  size: ['s', 'm', 'l'],
  brand: ['acorn', 'birch', 'cedar'],
  price: ['low', 'high'],
  sort: ['price', 'name', 'new'],
};

/** Facets that are added in the order they were clicked, so that one list has factorially many addresses. */
function facets(request: SiteRequest): Answer {
  const chosen = new URLSearchParams(request.query);
  const hrefs: string[] = [];
  for (const [facet, values] of Object.entries(FACETS)) {
    for (const value of values) {
      const next = new URLSearchParams(chosen);
      next.delete(facet);
      next.append(facet, value);
      hrefs.push(`${PREFIX}facets?${next}`);
    }
  }
  return html(documentOf({ title: 'Facets', body: filler('facets') + linkList(hrefs) }));
}

/** Relative links that go one level deeper each time, as a wrong base path makes them. */
function deep(request: SiteRequest): Answer {
  const depth = request.path.split('/').length - 4;
  return html(
    documentOf({ title: `Depth ${depth}`, body: filler('deep') + linkList(['further/', 'images/further/']) }),
  );
}

/** Any path is a page, and links to two more with names of its own. */
function endless(request: SiteRequest): Answer {
  const seed = seedOf(request.path).toString(36);
  return html(
    documentOf({
      title: `Endless ${seed}`,
      body: filler(seed) + linkList([`${PREFIX}endless/${seed}a`, `${PREFIX}endless/${seed}b`]),
    }),
  );
}

/** A numbered list that goes on although there is nothing on it any more. */
function pagination(request: SiteRequest): Answer {
  const page = Number(new URLSearchParams(request.query).get('page')) || 1;
  const next = `${PREFIX}pages?page=${page + 1}`;
  const items = page <= 3 ? linkList([`/content/item/${page}`]) : '<p>No more items.</p>';
  return html(
    documentOf({
      title: `Items, page ${page}`,
      head: `<link rel="next" href="${next}">\n`,
      body: `${items}${link(next, 'Next')}`,
    }),
  );
}

const TRAPS = [
  'calendar/2024/01',
  'session-query/home',
  'session-path/home',
  'facets',
  'deep/',
  'endless/start',
  'pages',
];

export const traps: Family = {
  prefix: PREFIX,
  about: 'webs without end: calendar, session ids, facets, deep paths, pages',
  // No start is offered, because a crawler that follows these links comes to no end.
  starts: [],
  answer(request) {
    const [first = '', second, third, fourth] = segmentsOf(request, PREFIX);
    switch (first) {
      case '':
        return html(documentOf({ title: 'Traps', body: linkList(TRAPS.map((path) => PREFIX + path)) }));
      case 'calendar': {
        const year = numberIn(second, 999_999);
        const month = numberIn(third, 12);
        if (year === null || month === null || month === 0) return null;
        return fourth === undefined ? calendar(year, month) : day(request.path);
      }
      case 'session-query':
        return session(request, 'query');
      case 'session-path':
        return session(request, 'path');
      case 'facets':
        return facets(request);
      case 'deep':
        return deep(request);
      case 'endless':
        return endless(request);
      case 'pages':
        return pagination(request);
      default:
        return null;
    }
  },
};
