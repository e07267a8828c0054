import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { buildTree } from '../../src/extract/tree/tree-builder.ts';
import { extractTyped, TYPE_NAMES, type TypeName } from '../../src/extract/types/extract-typed.ts';

/**
 * Pages that imitate the main shop and site systems, and what is read from them. A page's first line holds its address
 * and the type it is read as. After a change that is meant to change results: `npx vitest run test/goldens -u`, and
 * look at every line of the difference.
 */
const PAGES = new URL('pages/', import.meta.url);
const HEAD = /^<!-- (\S+) (\S+) -->\n/;
const FETCHED_AT = Date.UTC(2026, 10, 15, 12);

const goldens = readdirSync(PAGES)
  .filter((file) => file.endsWith('.html'))
  .map((file) => {
    const text = readFileSync(new URL(file, PAGES), 'utf8');
    const [head = '', url = '', type = ''] = HEAD.exec(text) ?? [];
    return { name: file.slice(0, -'.html'.length), url, type, html: text.slice(head.length) };
  });

describe('golden pages', () => {
  it.each(goldens)('$name is read as its golden file says', async ({ name, url, type, html }) => {
    const page = { tree: buildTree(html), url, fetchedAt: FETCHED_AT };
    const { type: found, confidence, value, by, problems } = extractTyped(page, 'auto');
    if (type !== 'auto') expect(found, 'what auto takes it for').toBe(type);
    const golden = { type: found, confidence, value, by, problems };
    const file = new URL(`expected/${name}.json`, import.meta.url);
    await expect(`${JSON.stringify(golden, null, 2)}\n`).toMatchFileSnapshot(file.pathname);
  });

  it('every golden file belongs to a page', () => {
    const files = readdirSync(new URL('expected/', import.meta.url)).map((file) =>
      file.replace(/\.json$/, ''),
    );
    expect(files.sort()).toEqual(goldens.map(({ name }) => name).sort());
  });

  it('every type has one', () => {
    const types = new Set(goldens.map(({ type }) => type));
    const only = TYPE_NAMES.filter((name: TypeName) => !types.has(name));
    // Two are never the best name for a page that is something else as well; their own tests are beside the code.
    expect(only).toEqual(['organization', 'breadcrumbs']);
  });
});
