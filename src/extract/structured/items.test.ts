import { describe, expect, it } from 'vitest';
import { buildTree } from '../tree/tree-builder.ts';
import { type DataItem, isItem } from './item.ts';
import { readStructured } from './structured-view.ts';

const URL_OF_PAGE = 'https://example.com/dir/page?x=1';

/** Things as plain objects: `@type`, `@id` and their properties, lists of one as their value. */
function show(item: DataItem, around: readonly DataItem[] = []): unknown {
  const shown: Record<string, unknown> = {};
  if (item.types.length > 0) shown['@type'] = item.types.length === 1 ? item.types[0] : item.types;
  if (item.id !== null) shown['@id'] = item.id;
  for (const [name, values] of item.properties) {
    const all = values.map((value) => {
      if (!isItem(value)) return value;
      return around.includes(value) || value === item ? `→ ${value.id}` : show(value, [...around, item]);
    });
    shown[name] = all.length === 1 ? all[0] : all;
  }
  return shown;
}

const itemsOf = (html: string): unknown[] =>
  readStructured(buildTree(html), URL_OF_PAGE).roots.map((root) => show(root));
const ld = (json: string): unknown[] => itemsOf(`<script type="application/ld+json">${json}</script>`);

describe('JSON-LD', () => {
  it.each<[string, string, unknown[]]>([
    [
      'a thing with a thing inside',
      '{"@context":"https://schema.org","@type":"Product","offers":{"@type":"Offer","price":5}}',
      [{ '@type': 'Product', offers: { '@type': 'Offer', price: 5 } }],
    ],
    ['several types', '{"@type":["Product","Car"],"name":"x"}', [{ '@type': ['Product', 'Car'], name: 'x' }]],
    [
      'types as addresses',
      '{"@type":"http://schema.org/Product","name":"x"}',
      [{ '@type': 'Product', name: 'x' }],
    ],
    [
      'a prefix that everybody knows',
      '{"@type":"schema:Product","schema:name":"x"}',
      [{ '@type': 'Product', name: 'x' }],
    ],
    [
      'a prefix of the context',
      '{"@context":{"s":"https://schema.org/","ex":"https://ex.org/"},"@type":"s:Product","ex:size":1}',
      [{ '@type': 'Product', 'https://ex.org/size': 1 }],
    ],
    [
      'a vocabulary of the context',
      '{"@context":{"@vocab":"https://ex.org/"},"@type":"Thing","size":1}',
      [{ '@type': 'https://ex.org/Thing', 'https://ex.org/size': 1 }],
    ],
    [
      'terms of the context',
      '{"@context":{"title":"http://schema.org/name","home":{"@id":"http://schema.org/url","@type":"@id"}},"@type":"schema:Thing","title":"x","home":"/h"}',
      [{ '@type': 'Thing', name: 'x', url: 'https://example.com/h' }],
    ],
    [
      'other names for keywords',
      '{"@context":{"kind":"@type"},"kind":"Thing","id":"#a","name":"x"}',
      [{ '@type': 'Thing', '@id': 'https://example.com/dir/page?x=1#a', name: 'x' }],
    ],
    [
      'a graph',
      '{"@context":"https://schema.org","@graph":[{"@type":"A","name":"a"},{"@type":"B","name":"b"}]}',
      [
        { '@type': 'A', name: 'a' },
        { '@type': 'B', name: 'b' },
      ],
    ],
    [
      'references',
      '{"@graph":[{"@type":"A","b":{"@id":"#b"}},{"@type":"B","@id":"#b","name":"b"}]}',
      [
        { '@type': 'A', b: { '@type': 'B', '@id': 'https://example.com/dir/page?x=1#b', name: 'b' } },
        { '@type': 'B', '@id': 'https://example.com/dir/page?x=1#b', name: 'b' },
      ],
    ],
    [
      'references to nothing',
      '{"@type":"A","b":{"@id":"/b"}}',
      [{ '@type': 'A', b: 'https://example.com/b' }],
    ],
    [
      'references in a circle',
      '{"@graph":[{"@type":"A","@id":"/a","b":{"@id":"/b"}},{"@type":"B","@id":"/b","a":{"@id":"/a"}}]}',
      [
        {
          '@type': 'A',
          '@id': 'https://example.com/a',
          b: { '@type': 'B', '@id': 'https://example.com/b', a: '→ https://example.com/a' },
        },
        {
          '@type': 'B',
          '@id': 'https://example.com/b',
          a: { '@type': 'A', '@id': 'https://example.com/a', b: '→ https://example.com/b' },
        },
      ],
    ],
    [
      'one thing in two places',
      '[{"@type":"A","@id":"/a","x":1},{"@id":"/a","y":2}]',
      [{ '@type': 'A', '@id': 'https://example.com/a', x: 1, y: 2 }],
    ],
    [
      'values in objects',
      '{"@type":"A","x":{"@value":"v","@language":"en"},"y":{"@list":[1,{"@value":2}]},"z":{"@set":[]}}',
      [{ '@type': 'A', x: 'v', y: [1, 2] }],
    ],
    [
      'relative addresses, in properties that are addresses',
      '{"@type":"A","url":"b","image":["../i.png"],"name":"b"}',
      [{ '@type': 'A', url: 'https://example.com/dir/b', image: 'https://example.com/i.png', name: 'b' }],
    ],
    ['nothing and empty texts', '{"@type":"A","x":null,"y":"","z":[null]}', [{ '@type': 'A' }]],
    [
      'properties the other way round',
      '{"@type":"A","@id":"/a","@reverse":{"maker":{"@type":"B","name":"b"}}}',
      [
        { '@type': 'B', name: 'b', maker: { '@type': 'A', '@id': 'https://example.com/a' } },
        { '@type': 'A', '@id': 'https://example.com/a' },
      ],
    ],
  ])('reads %s', (_, json, items) => {
    expect(ld(json)).toEqual(items);
  });

  it('knows things of one id across blocks, but blank ones only within theirs', () => {
    const block = (json: string): string => `<script type="application/ld+json">${json}</script>`;
    expect(
      itemsOf(
        block('{"@type":"A","b":{"@id":"/b"},"c":{"@id":"_:c"}}') +
          block('{"@type":"B","@id":"/b","name":"b"}') +
          block('{"@type":"C","@id":"_:c"}'),
      )[0],
    ).toEqual({ '@type': 'A', b: { '@type': 'B', '@id': 'https://example.com/b', name: 'b' }, c: '_:0-c' });
  });
});

describe('microdata', () => {
  it.each<[string, string, unknown[]]>([
    [
      'values from where their elements carry them',
      '<div itemscope><meta itemprop=a content=" 1 "><a itemprop=b href=x>t</a><img itemprop=c src=/i><object itemprop=d data=o></object><data itemprop=e value=2>two</data><meter itemprop=f value=3></meter><time itemprop=g datetime=2024>x</time><time itemprop=h>now</time><b itemprop=i>t <i>u</i></b><link itemprop=j href="https://schema.org/InStock"><video itemprop=k src=v></video></div>',
      [
        {
          a: ' 1 ',
          b: 'https://example.com/dir/x',
          c: 'https://example.com/i',
          d: 'https://example.com/dir/o',
          e: '2',
          f: '3',
          g: '2024',
          h: 'now',
          i: 't u',
          j: 'https://schema.org/InStock',
          k: 'https://example.com/dir/v',
        },
      ],
    ],
    [
      'items within items',
      '<div itemscope itemtype="https://schema.org/Product"><div itemprop=offers itemscope itemtype="https://schema.org/Offer"><i itemprop=price>5</i></div><i itemprop=name>n</i></div>',
      [{ '@type': 'Product', offers: { '@type': 'Offer', price: '5' }, name: 'n' }],
    ],
    [
      'an item within an item that is no property of it',
      '<div itemscope><div itemscope><i itemprop=a>1</i></div><i itemprop=b>2</i></div>',
      [{ b: '2' }, { a: '1' }],
    ],
    [
      'several types and names',
      '<div itemscope itemtype="https://schema.org/A https://schema.org/B"><i itemprop="x y">1</i></div>',
      [{ '@type': ['A', 'B'], x: '1', y: '1' }],
    ],
    [
      'ids, made absolute',
      '<div itemscope itemtype="https://schema.org/A" itemid="/id"></div>',
      [{ '@type': 'A', '@id': 'https://example.com/id' }],
    ],
    [
      'parts elsewhere, by itemref',
      '<div itemscope itemref="p q none"><i itemprop=a>1</i></div><p id=p itemprop=b>2</p><div id=q><i itemprop=c>3</i></div>',
      [{ a: '1', b: '2', c: '3' }],
    ],
    [
      'properties in the order of the page, also by itemref',
      '<i id=p itemprop=x>1</i><div itemscope itemref=p><i itemprop=x>2</i></div>',
      [{ x: ['1', '2'] }],
    ],
    [
      'an item elsewhere, by itemref',
      '<div itemscope itemref=p></div><div id=p itemprop=x itemscope><i itemprop=y>1</i></div>',
      [{ x: { y: '1' } }],
    ],
    [
      'what two items share',
      '<div itemscope itemref=p></div><div itemscope itemref=p></div><i id=p itemprop=x>1</i>',
      [{ x: '1' }, { x: '1' }],
    ],
    [
      'an item within itself, without it',
      '<div itemscope itemref=p></div><div id=p itemprop=x itemscope itemref=p><i itemprop=y>1</i></div>',
      [{ x: { y: '1' } }],
    ],
    [
      'what itemref names twice once',
      '<div itemscope itemref="p p q"></div><div id=q><i id=p itemprop=x>1</i></div>',
      [{ x: '1' }],
    ],
    [
      'a base',
      '<base href="/other/"><div itemscope><a itemprop=x href=y></a></div>',
      [{ x: 'https://example.com/other/y' }],
    ],
    [
      'prices in `content`, as W3C has it',
      '<div itemscope><b itemprop=price content="5.00">$5</b></div>',
      [{ price: '5.00' }],
    ],
    ['nothing outside of items', '<i itemprop=x>1</i><i itemprop=y itemscope></i>', []],
    [
      'an item with a type that is called a property of nothing',
      '<div itemprop=blogPost itemscope itemtype="https://schema.org/BlogPosting"><i itemprop=author itemscope itemtype="https://schema.org/Person"><b itemprop=name>n</b></i></div>',
      [{ '@type': 'BlogPosting', author: { '@type': 'Person', name: 'n' } }],
    ],
    ['nothing in templates', '<template><p itemscope></p></template>', []],
    [
      'addresses that lead to no page as they are written',
      '<p itemscope><a itemprop=x href="mailto:a@b.c"></a><a itemprop=y></a></p>',
      [{ x: 'mailto:a@b.c', y: '' }],
    ],
  ])('reads %s', (_, html, items) => {
    expect(itemsOf(html)).toEqual(items);
  });

  it('goes no deeper and no further than its limits', () => {
    const { roots, isTruncated } = readStructured(
      buildTree(`<div itemscope>${'<div itemscope itemprop=a>'.repeat(200)}`),
      URL_OF_PAGE,
    );
    expect(isTruncated).toBe(true);
    let depth = 0;
    for (let item: DataItem | undefined = roots[0]; item !== undefined; depth++)
      item = item.properties.get('a')?.find(isItem);
    expect(depth).toBe(32);
    const shared = `<p id=p>${'<i itemprop=x>1</i>'.repeat(1_000)}</p>${'<p itemscope itemref=p></p>'.repeat(1_900)}`;
    expect(readStructured(buildTree(shared), URL_OF_PAGE).isTruncated).toBe(true);
  });
});

describe('RDFa Lite', () => {
  it.each<[string, string, unknown[]]>([
    [
      'vocab, typeof and property',
      '<div vocab="https://schema.org/" typeof=Product><b property=name>n</b></div>',
      [{ '@type': 'Product', name: 'n' }],
    ],
    [
      'things within things',
      '<div vocab="https://schema.org/" typeof=Product><div property=offers typeof=Offer><b property=price>5</b></div><b property=name>n</b></div>',
      [{ '@type': 'Product', offers: { '@type': 'Offer', price: '5' }, name: 'n' }],
    ],
    [
      'resource as the id of a thing',
      '<div vocab="https://schema.org/" typeof=A resource="#a"><b property=name>n</b></div>',
      [{ '@type': 'A', '@id': 'https://example.com/dir/page?x=1#a', name: 'n' }],
    ],
    [
      'resource as a value, and what is known of it',
      '<div vocab="https://schema.org/"><p typeof=A resource="#a"><i property=b resource="#b"></i></p><p typeof=B resource="#b"><i property=name>n</i></p></div>',
      [
        {
          '@type': 'A',
          '@id': 'https://example.com/dir/page?x=1#a',
          b: { '@type': 'B', '@id': 'https://example.com/dir/page?x=1#b', name: 'n' },
        },
      ],
    ],
    [
      'resource alone as whom properties describe',
      '<div vocab="https://schema.org/"><p typeof=A resource="/a"><i property=x>1</i></p><p resource="/a"><i property=y>2</i></p></div>',
      [{ '@type': 'A', '@id': 'https://example.com/a', x: '1', y: '2' }],
    ],
    [
      'names of things that have no address',
      '<div vocab="https://schema.org/"><p typeof=A resource="_:a"><i property=b resource="_:b"></i></p><p typeof=B resource="_:b"><i property=name>n</i></p></div>',
      [{ '@type': 'A', '@id': '_:a', b: { '@type': 'B', '@id': '_:b', name: 'n' } }],
    ],
    [
      'prefixes',
      '<div prefix="ex: https://ex.org/ s: https://schema.org/" typeof="ex:T"><b property="ex:a">1</b><b property="s:name">n</b></div>',
      [{ '@type': 'https://ex.org/T', 'https://ex.org/a': '1', name: 'n' }],
    ],
    [
      'prefixes that everybody knows',
      '<div typeof="schema:Product"><b property="schema:name">n</b><b property="dc:date">d</b></div>',
      [{ '@type': 'Product', name: 'n', 'http://purl.org/dc/terms/date': 'd' }],
    ],
    [
      'several types and properties',
      '<div vocab="https://schema.org/" typeof="A B"><b property="x y">1</b></div>',
      [{ '@type': ['A', 'B'], x: '1', y: '1' }],
    ],
    [
      'values from where they stand',
      '<div vocab="https://schema.org/" typeof=A><b property=a content=1>one</b><a property=b href=x>t</a><img property=c src=/i><time property=d datetime=2024>x</time><link property=e href="https://schema.org/InStock"></div>',
      [
        {
          '@type': 'A',
          a: '1',
          b: 'https://example.com/dir/x',
          c: 'https://example.com/i',
          d: '2024',
          e: 'https://schema.org/InStock',
        },
      ],
    ],
    [
      'a vocabulary as far as its element goes',
      '<p vocab="https://schema.org/"></p><p typeof="T"><b property=a>1</b></p>',
      [{ '@type': 'T', a: '1' }],
    ],
    [
      'nothing outside of things',
      '<meta property="og:title" content=x><b property=name>x</b><img typeof="foaf:Image" src=x>',
      [],
    ],
  ])('reads %s', (_, html, items) => {
    expect(itemsOf(html)).toEqual(items);
  });
});
