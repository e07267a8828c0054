import { describe, expect, it } from 'vitest';
import { extractPage } from '../scan/extract-page.ts';

function itemsOf(text: string) {
  const input = { text, charset: null, url: 'https://example.com/dir/page', contentType: 'text/html' };
  const { metadata } = extractPage({ ...input, linkHeader: null, xRobotsTag: null, formats: ['metadata'] });
  // Through JSON, because that is what becomes of them.
  return JSON.parse(JSON.stringify({ microdata: metadata?.microdata, rdfa: metadata?.rdfa }));
}

describe('microdata', () => {
  it('nests items and takes each value from where its element carries it', () => {
    const { microdata } = itemsOf(`<div itemscope itemtype="https://schema.org/Product" itemid="/id">
      <h1 itemprop="name">A <b>nice</b> thing</h1><img itemprop=image src=i.png><a itemprop="url sameAs" href="/u">link</a>
      <meta itemprop=sku content=" S1 "><link itemprop=availability href="https://schema.org/InStock">
      <div itemprop=offers itemscope itemtype="https://schema.org/Offer"><span itemprop=price>9.99</span>
        <data itemprop=currency value=EUR>Euro</data></div>
      <time itemprop=released datetime=2024-01-02>yesterday</time><time itemprop=seen>now</time><span itemprop=color>red</span>
      <span itemprop=color>blue</span></div><span itemprop=name>outside</span>`);
    expect(microdata).toEqual([
      {
        type: ['https://schema.org/Product'],
        id: 'https://example.com/id',
        properties: {
          name: ['A nice thing'],
          image: ['https://example.com/dir/i.png'],
          url: ['https://example.com/u'],
          sameAs: ['https://example.com/u'],
          sku: [' S1 '],
          availability: ['https://schema.org/InStock'],
          offers: [
            { type: ['https://schema.org/Offer'], properties: { price: ['9.99'], currency: ['EUR'] } },
          ],
          released: ['2024-01-02'],
          seen: ['now'],
          color: ['red', 'blue'],
        },
      },
    ]);
  });

  it('knows where unclosed elements end', () => {
    const { microdata } = itemsOf(
      '<ul itemscope><li itemprop=a>1<li itemprop=a>2<p itemprop=b>3<div>4</div></ul><p>5',
    );
    expect(microdata).toEqual([{ type: [], properties: { a: ['1', '2 3 4'], b: ['3'] } }]);
  });

  it('lists items side by side and properties of properties', () => {
    const { microdata } = itemsOf(
      '<p itemscope itemtype="a b"><b itemprop=x>1<i itemprop=y>2</i></b></p><p itemscope></p>',
    );
    expect(microdata).toEqual([
      { type: ['a', 'b'], properties: { y: ['2'], x: ['12'] } },
      { type: [], properties: {} },
    ]);
  });

  it('is not read in templates and not confused by odd names', () => {
    const { microdata } = itemsOf(
      '<template><p itemscope></p></template><p itemscope><b itemprop="__proto__ constructor">x</b>',
    );
    expect(microdata).toHaveLength(1);
    expect(Object.entries(microdata[0].properties)).toEqual([
      ['__proto__', ['x']],
      ['constructor', ['x']],
    ]);
  });

  it('reads what itemref leads to, before and behind', () => {
    const { microdata } = itemsOf(
      '<i id=p itemprop=x>1</i><div itemscope itemtype="https://schema.org/A" itemref="p q"><b itemprop=x>2</b></div><p id=q><b itemprop=y>3</b></p>',
    );
    expect(microdata).toEqual([{ type: ['https://schema.org/A'], properties: { x: ['1', '2'], y: ['3'] } }]);
  });

  it('counts as items only those that are no property, and has properties in the order they begin', () => {
    const { microdata } = itemsOf(
      '<p itemprop=a itemscope><i itemprop=b>1</i></p><p itemscope><b itemprop=x>1<i itemprop=y content=c>2</i></b><b itemprop=x>3</b></p>',
    );
    expect(microdata).toEqual([{ type: [], properties: { x: ['12', '3'], y: ['c'] } }]);
    expect(Object.keys(microdata[0].properties)).toEqual(['x', 'y']);
  });

  it('takes addresses as relative to a base that comes late', () => {
    const { microdata } = itemsOf('<p itemscope><a itemprop=x href=y></a></p><base href="/other/">');
    expect(microdata).toEqual([{ type: [], properties: { x: ['https://example.com/other/y'] } }]);
  });

  it.each(['itemscope itemprop="a b c d"', 'typeof=T property="a b c d"'])(
    'things that double with every level (%s) do not fill the memory',
    (bomb) => {
      const written = JSON.stringify(itemsOf(`<div itemscope typeof=X>${`<div ${bomb}>`.repeat(30)}x`));
      expect(written.length).toBeLessThan(4_000_000);
    },
  );

  it('nests no deeper than can be written out', () => {
    const { microdata } = itemsOf(`<div itemscope>${'<div itemscope itemprop=a>'.repeat(400)}`);
    let depth = 0;
    for (let item = microdata[0]; item !== undefined; item = item.properties.a?.[0]) depth++;
    expect(depth).toBe(32);
  });
});

describe('RDFa Lite', () => {
  it('reads vocab, typeof, property and resource', () => {
    const { rdfa } =
      itemsOf(`<div vocab="https://schema.org/" typeof="Product"  resource="#p"><span property="name">Thing</span>
      <div property="offers" typeof="Offer"><meta property="price" content="5"><a property="url" href="/buy">Buy</a></div>
      <span property="color" content="red">rot</span><span property="maker" resource="/acme">Acme</span></div>`);
    expect(rdfa).toEqual([
      {
        type: ['https://schema.org/Product'],
        id: 'https://example.com/dir/page#p',
        properties: {
          name: ['Thing'],
          offers: [
            {
              type: ['https://schema.org/Offer'],
              properties: { price: ['5'], url: ['https://example.com/buy'] },
            },
          ],
          color: ['red'],
          maker: ['https://example.com/acme'],
        },
      },
    ]);
  });

  it('knows prefixes, those of the page and those that everybody knows', () => {
    const { rdfa } = itemsOf(
      '<html prefix="ex: https://ex.org/"><p typeof="ex:T schema:Thing"><b property="ex:a">1</b><b property="schema:name">n</b><b property="dc:date">d</b></p>',
    );
    expect(rdfa).toEqual([
      {
        type: ['https://ex.org/T', 'https://schema.org/Thing'],
        properties: { 'https://ex.org/a': ['1'], name: ['n'], 'http://purl.org/dc/terms/date': ['d'] },
      },
    ]);
  });

  it('joins what is said of one thing in several places, also in circles', () => {
    const { rdfa } = itemsOf(
      '<div vocab="https://schema.org/"><p typeof=A resource="#a"><i property=b resource="#b"></i></p><p about="#b" typeof=B><i property=a resource="#a"></i></p><p resource="#b"><i property=name>n</i></p></div>',
    );
    const [a, b] = ['https://example.com/dir/page#a', 'https://example.com/dir/page#b'];
    const typed = (name: string) => [`https://schema.org/${name}`];
    expect(rdfa).toEqual([
      {
        type: typed('A'),
        id: a,
        properties: { b: [{ type: typed('B'), id: b, properties: { a: [a], name: ['n'] } }] },
      },
      {
        type: typed('B'),
        id: b,
        properties: { a: [{ type: typed('A'), id: a, properties: { b: [b] } }], name: ['n'] },
      },
    ]);
  });

  it('leaves Open Graph and empty types alone', () => {
    expect(itemsOf('<meta property="og:title" content="x"><img typeof="foaf:Image" src=x>').rdfa).toEqual([]);
  });

  it('keeps prefixed types and ends a vocabulary with its element', () => {
    const { rdfa } = itemsOf('<p vocab="v:"></p><p typeof="T s:U"><b property=a>1</b></p>');
    expect(rdfa).toEqual([{ type: ['T', 's:U'], properties: { a: ['1'] } }]);
  });
});
