import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { StructuredItem } from '../../src/core/model/page.ts';
import { extractPage } from '../../src/extract/scan/extract-page.ts';
import { readMicrodataItems, readRdfaItems } from '../../src/extract/structured/attribute-items.ts';
import { indexMarkup } from '../../src/extract/structured/markup-index.ts';
import { writeItems } from '../../src/extract/structured/streamed-items.ts';
import { buildTree } from '../../src/extract/tree/tree-builder.ts';

const URL_OF_PAGE = 'https://example.com/dir/page';
const RUNS = 1_500;

/** An element as it was meant, before it is written down. */
interface Element {
  readonly attributes: Readonly<Record<string, string>>;
  readonly inside: readonly (Element | string)[];
}

const NAMES = fc.subarray(['a', 'b', 'c'], { minLength: 1, maxLength: 2 }).map((names) => names.join(' '));
const IDS = fc.constantFrom('p', 'q', 'r');
const WORD = fc.constantFrom('one', 'two ', ' three', '&amp;', '');

function elements(attributes: fc.Arbitrary<Record<string, string>>): fc.Arbitrary<Element> {
  const { element } = fc.letrec<{ element: Element }>((tie) => ({
    element: fc.record({
      attributes,
      inside: fc.array(fc.oneof({ weight: 2, arbitrary: WORD }, { weight: 3, arbitrary: tie('element') }), {
        maxLength: 4,
        depthIdentifier: 'inside',
      }),
    }),
  }));
  return element;
}

const microdata = elements(
  fc
    .record(
      {
        itemprop: fc.option(NAMES, { nil: '', freq: 20 }),
        itemscope: fc.constant(''),
        itemtype: fc.constantFrom('https://schema.org/A', 'https://schema.org/A https://schema.org/B'),
        itemid: fc.constantFrom('/x', 'urn:y'),
        itemref: fc.subarray(['p', 'q', 'r', 'none']).map((ids) => ids.join(' ')),
        id: IDS,
        content: fc.constantFrom('', 'c'),
      },
      { requiredKeys: [] },
    )
    // Neither a type nor an id nor a reference means anything without an item.
    .map(({ itemtype, itemid, itemref, ...rest }) =>
      rest.itemscope === undefined ? rest : given({ ...rest, itemtype, itemid, itemref }),
    ) as fc.Arbitrary<Record<string, string>>,
);
const rdfa = elements(
  fc.record(
    {
      vocab: fc.constantFrom('https://schema.org/', 'https://ex.org/', ''),
      prefix: fc.constantFrom('x: https://x.org/', 'y: https://y.org/ x: https://schema.org/', 'broken'),
      typeof: fc.constantFrom('A', 'x:B', 'A y:C', 'schema:D', 'z:E', ''),
      property: fc.constantFrom('a', 'b c', 'x:a', 'og:title', 'schema:name', 'y:b a'),
      resource: fc.constantFrom('#p', '/q', '[x:r]', '_:s', ''),
      about: fc.constantFrom('#p', '/q', ''),
      href: fc.constantFrom('/q', 'mailto:a@b.example'),
      content: fc.constantFrom('', 'c'),
      id: IDS,
    },
    { requiredKeys: [] },
  ) as fc.Arbitrary<Record<string, string>>,
);

function given(values: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const known = Object.entries(values).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return Object.fromEntries(known);
}

function write(element: Element): string {
  const attributes = Object.entries(element.attributes).map(([name, value]) => ` ${name}="${value}"`);
  const inside = element.inside.map((part) => (typeof part === 'string' ? part : write(part)));
  return `<span${attributes.join('')}>${inside.join('')}</span>`;
}

function fromPass(html: string) {
  const input = { text: html, charset: null, url: URL_OF_PAGE, contentType: 'text/html' };
  const { metadata } = extractPage({ ...input, linkHeader: null, xRobotsTag: null, formats: ['metadata'] });
  return plain({ microdata: metadata?.microdata, rdfa: metadata?.rdfa });
}

function fromTree(html: string) {
  const marks = indexMarkup(buildTree(html), URL_OF_PAGE);
  const asWritten = (address: string) => address;
  return plain({
    microdata: writeItems(readMicrodataItems(marks, { name: asWritten, hasStrays: false }).roots).items,
    rdfa: writeItems(readRdfaItems(marks, asWritten).roots).items,
  });
}

/** Also the order of the properties counts. */
const plain = (value: unknown) => JSON.parse(JSON.stringify(value)) as Record<'microdata' | 'rdfa', unknown>;

/** What `itemref` leads to is written out wherever it leads from; pages where that is very often say nothing more. */
const MOST_ITEMS = 200;

/** The algorithm of the HTML standard, word for word, on elements that were never written down. */
function standardItems(root: Element): StructuredItem[] {
  let items = 0;
  const all: Element[] = [];
  const collect = (element: Element): void => {
    all.push(element);
    for (const part of element.inside) if (typeof part !== 'string') collect(part);
  };
  collect(root);
  const children = (element: Element): Element[] =>
    element.inside.filter((part): part is Element => typeof part !== 'string');
  const textOf = (element: Element): string =>
    element.inside
      .map((part) => (typeof part === 'string' ? part.replace('&amp;', '&') : textOf(part)))
      .join('');
  const isScope = (element: Element): boolean => element.attributes.itemscope !== undefined;
  const wordsOf = (text = ''): string[] => text.split(' ').filter((word) => word !== '');

  const propertiesOf = (item: Element): Element[] => {
    const results = new Set<Element>();
    const memory = new Set<Element>([item]);
    const pending = children(item);
    for (const id of wordsOf(item.attributes.itemref)) {
      const named = all.find(({ attributes }) => attributes.id === id);
      if (named !== undefined) pending.push(named);
    }
    for (let current = pending.shift(); current !== undefined; current = pending.shift()) {
      if (memory.has(current)) continue;
      memory.add(current);
      if (!isScope(current)) pending.push(...children(current));
      if (current.attributes.itemprop !== undefined) results.add(current);
    }
    return [...results].sort((a, b) => all.indexOf(a) - all.indexOf(b));
  };
  const itemOf = (item: Element, around: readonly Element[]): StructuredItem => {
    fc.pre(++items < MOST_ITEMS);
    const { itemtype, itemid } = item.attributes;
    const properties: Record<string, (string | StructuredItem)[]> = {};
    for (const property of propertiesOf(item)) {
      if (isScope(property) && [...around, item].includes(property)) continue;
      const value = isScope(property)
        ? itemOf(property, [...around, item])
        : (property.attributes.content ?? textOf(property).replace(/\s+/g, ' ').trim());
      for (const name of wordsOf(property.attributes.itemprop)) {
        const values = properties[name];
        if (values === undefined) properties[name] = [value];
        else values.push(value);
      }
    }
    const id = itemid === '/x' ? 'https://example.com/x' : itemid;
    return { type: wordsOf(itemtype), ...(id === undefined ? {} : { id }), properties };
  };
  return all
    .filter((element) => isScope(element) && element.attributes.itemprop === undefined)
    .map((element) => itemOf(element, []));
}

describe('structured data', () => {
  it('microdata is read by the algorithm of the HTML standard, in one pass and from a tree', () => {
    fc.assert(
      fc.property(microdata, (page) => {
        const html = write(page);
        const expected = plain({ microdata: standardItems(page), rdfa: [] }).microdata;
        expect(JSON.stringify(fromPass(html).microdata)).toBe(JSON.stringify(expected));
        expect(JSON.stringify(fromTree(html).microdata)).toBe(JSON.stringify(expected));
      }),
      { numRuns: RUNS },
    );
  });

  it('RDFa is read in one pass as it is from a tree', () => {
    fc.assert(
      fc.property(rdfa, (page) => {
        const html = write(page);
        expect(JSON.stringify(fromPass(html).rdfa)).toBe(JSON.stringify(fromTree(html).rdfa));
      }),
      { numRuns: RUNS },
    );
  });
});
