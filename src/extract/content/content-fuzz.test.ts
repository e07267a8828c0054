import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { buildTree } from '../tree/tree-builder.ts';
import { extractContent } from './extract-content.ts';
import { GOLDEN_PAGES } from './golden-pages.fixture.ts';

/** Real pages stay outside the project; without them the pages of the tests are mutated. */
const REAL_PAGES = fileURLToPath(new URL('../../../../shared/data/content-extraction/html', import.meta.url));
const MUTANTS = 2_000;
const MOST_CHARS = 12_000;
const REAL_FILES = 40;

function pages(): string[] {
  const own = GOLDEN_PAGES.map(({ html }) => html);
  if (!existsSync(REAL_PAGES)) return own;
  const real = readdirSync(REAL_PAGES)
    .filter((_, index) => index % 11 === 0)
    .slice(0, REAL_FILES)
    .map((name) => gunzipSync(readFileSync(`${REAL_PAGES}/${name}`)).toString('utf8'));
  // Parts of large pages: cut anywhere, which is a mutation of its own.
  return [
    ...own,
    ...real.map((html) => html.slice(0, MOST_CHARS)),
    ...real.map((html) => html.slice(-MOST_CHARS)),
  ];
}

/** A generator with a seed: the same mutants every time. */
function chance(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 4_294_967_296;
  };
}

const PIECES = [
  '<',
  '>',
  '"',
  '</div>',
  '<table>',
  '<p>',
  '</p>',
  '<!--',
  '<script>',
  '<pre>',
  '<li>',
  '&',
  '\u0000',
  '\ud800',
  '<a href="',
  '<noscript>',
  '<svg>',
  '<div hidden>',
];

function mutate(html: string, random: () => number): string {
  let text = html;
  for (let change = 0; change < 6; change++) {
    const at = Math.floor(random() * text.length);
    const length = Math.floor(random() * 200);
    const kind = random();
    if (kind < 0.4)
      text = text.slice(0, at) + (PIECES[Math.floor(random() * PIECES.length)] ?? '') + text.slice(at);
    else if (kind < 0.7) text = text.slice(0, at) + text.slice(at + length);
    else text = text.slice(0, at) + text.slice(at, at + length).repeat(3) + text.slice(at + length);
  }
  return text;
}

describe('broken pages', () => {
  it('always give content, and the same twice', () => {
    const random = chance(7);
    const originals = pages();
    for (let index = 0; index < MUTANTS; index++) {
      const html = mutate(originals[index % originals.length] ?? '', random);
      const content = extractContent(buildTree(html), 'https://www.example.com/page');
      expect(content.text.length).toBeLessThanOrEqual(html.length * 2 + 100);
      if (index % 50 === 0)
        expect(extractContent(buildTree(html), 'https://www.example.com/page')).toEqual(content);
    }
  }, 120_000);

  it.each([
    ['nested divs', '<div>'.repeat(1_000_000)],
    ['nested lists', '<ul><li>a'.repeat(100_000)],
    ['nested tables', '<table><tr><td>a'.repeat(50_000)],
    ['nested quotes and bold', '<blockquote><b><i>a'.repeat(50_000)],
    ['one huge table', `<table>${'<tr><td>a<td>b'.repeat(100_000)}</table>`],
    ['links without end', '<a href=/x>a'.repeat(100_000)],
    ['one long word', `<p>${'a'.repeat(3_000_000)}</p>`],
    ['stars and backticks', `<p>${'*`_['.repeat(200_000)}</p>`],
    ['line breaks', '<br>'.repeat(300_000)],
    ['attributes', `<p ${'a=b '.repeat(300_000)}>x</p>`],
  ])(
    '%s are survived',
    (_name, html) => {
      const content = extractContent(buildTree(html), 'https://www.example.com/page');
      expect(content.text.length).toBeLessThanOrEqual(html.length * 2);
    },
    60_000,
  );
});
