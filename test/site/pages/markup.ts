import type { Answer, Family } from '../exchange.ts';
import { html, pageIn, raw, segmentsOf } from '../exchange.ts';
import { documentOf, linkList } from '../layout.ts';
import { headOf } from '../wire.ts';

/** HTML that is hard on parsers. All of it answers 200 and stays below 10 MB. */
const PREFIX = '/markup/';
const wrap = (title: string, body: string): string => `<!doctype html><title>${title}</title>${body}`;

/** Sends the pages that are megabytes long piece by piece, so that they need not exist as a whole. */
function repeated(title: string, count: number, piece: (at: number) => string): Answer {
  return raw((wire) => {
    wire.write(headOf('HTTP/1.1 200 OK', ['content-type: text/html; charset=utf-8', 'connection: close']));
    wire.write(wrap(title, ''));
    let at = 0;
    wire.pour(() => {
      if (at >= count) return null;
      let made = '';
      for (const end = Math.min(at + 500, count); at < end; at++) made += piece(at);
      return Buffer.from(made);
    });
  });
}

const PAGES: Readonly<Record<string, () => Answer>> = {
  '': () =>
    html(
      documentOf({
        title: 'Markup',
        body: linkList(['unclosed', 'nulls', 'no-html', 'odd-tags'].map((name) => PREFIX + name)),
      }),
    ),
  'deep-nesting': () => repeated('Deep nesting', 200_000, () => '<div>'),
  'many-links': () =>
    repeated('Many links', 100_000, (at) => `<a href="/content/item/${at}">item ${at}</a>\n`),
  'same-links': () => repeated('The same link', 100_000, () => '<a href="/content/item/1">one</a>\n'),
  'many-attributes': () =>
    html(
      wrap(
        'Many attributes',
        `<p ${Array.from({ length: 50_000 }, (_, at) => `a${at}="${at}"`).join(' ')}>x</p>`,
      ),
    ),
  'long-attribute': () =>
    html(wrap('Long attribute', `<a href="/content/item/1" title="${'t'.repeat(2_000_000)}">x</a>`)),
  'long-url': () => html(wrap('Long URL', `<a href="/content/item/1?q=${'u'.repeat(100_000)}">x</a>`)),
  'long-title': () => html(wrap('T'.repeat(1_000_000), '<p>x</p>')),
  'long-text': () => html(wrap('Long text', `<p>${'word '.repeat(800_000)}</p>`)),
  'one-line-script': () =>
    html(wrap('Script', `<script>${'var a="</scr"+"ipt>";'.repeat(100_000)}</script>`)),
  'bad-json-ld': () =>
    html(
      wrap(
        'Bad JSON-LD',
        `<script type="application/ld+json">{"a": </script><script type="application/ld+json">${'['.repeat(100_000)}</script>`,
      ),
    ),
  'many-entities': () =>
    html(wrap('Entities', `<p>${'&amp;&#x1F600;&notanentity;&#99999999;'.repeat(50_000)}</p>`)),
  'open-comment': () =>
    html(wrap('Open comment', `<p>seen</p><!-- ${'<a href="/never">never</a>'.repeat(1_000)}`)),
  'open-tag': () => html(wrap('Open tag', `<p>seen</p><a href="/never${'x'.repeat(10_000)}`)),
  unclosed: () =>
    html(
      '<html><head><title>Unclosed<body><p>one<p>two<li>three<a href="/content/item/1">one<a href="/content/item/2">two',
    ),
  nulls: () => html(wrap('Nu\0lls', '<p>a\0b</p><a href="/content/item/1\0">x</a>')),
  'no-html': () => html('Just words, although it says it is HTML.'),
  'odd-tags': () =>
    html(
      wrap(
        'Odd tags',
        '<1><a><b></a></b></p></p><table><a href="/content/item/1">in a table</a></table><svg><title>Not the title</title></svg>',
      ),
    ),
  'many-titles': () =>
    html(`<title>First</title><title>Second</title>${'<title>More</title>'.repeat(1_000)}`),
  'many-metas': () =>
    html(
      wrap(
        'Metas',
        Array.from({ length: 50_000 }, (_, at) => `<meta name="n${at}" content="${at}">`).join(''),
      ),
    ),
  prototype: () =>
    html(
      wrap(
        'Prototype',
        '<meta name="__proto__" content="x"><meta name="constructor" content="y"><meta property="og:__proto__" content="z">',
      ),
    ),
};

export const markup: Family = {
  prefix: PREFIX,
  about: 'HTML that is hard on parsers',
  starts: [PREFIX],
  answer(request) {
    const [first = ''] = segmentsOf(request, PREFIX);
    return pageIn(PAGES, first)?.() ?? null;
  },
};
