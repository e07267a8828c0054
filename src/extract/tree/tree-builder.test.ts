import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type PageTree, TREE_LIMITS } from './page-tree.ts';
import { buildTree } from './tree-builder.ts';

/** The tree as nested names, texts quoted. */
function outline(tree: PageTree): string {
  const write = (node: number): string => {
    if (tree.isText(node)) return JSON.stringify(tree.text(node));
    const inside: string[] = [];
    for (let child = tree.firstChild(node); child >= 0; child = tree.nextSibling(child))
      inside.push(write(child));
    const name = node === 0 ? '' : tree.name(node);
    return inside.length === 0 ? name : `${name}(${inside.join(' ')})`;
  };
  return write(0);
}
const outlineOf = (html: string): string => outline(buildTree(html));

describe('a tree', () => {
  it('nests elements as they are written', () => {
    expect(outlineOf('<div><p>a<b>c</b></p><p>d</p></div>')).toBe('(div(p("a" b("c")) p("d")))');
  });

  it.each([
    ['<p>a<p>b<div>c</div>', '(p("a") p("b") div("c"))'],
    ['<ul><li>a<li>b<ul><li>c</ul><li>d</ul>', '(ul(li("a") li("b" ul(li("c"))) li("d")))'],
    ['<dl><dt>a<dd>b<dt>c</dl>', '(dl(dt("a") dd("b") dt("c")))'],
    ['<table><tr><td>a<td>b<tr><td>c</table>d', '(table(tr(td("a") td("b")) tr(td("c"))) "d")'],
    ['<table><tbody><tr><td>a<tbody><tr><td>b</table>', '(table(tbody(tr(td("a"))) tbody(tr(td("b")))))'],
    ['<table><tr><td><table><tr><td>a</table>b</table>', '(table(tr(td(table(tr(td("a"))) "b"))))'],
    ['<select><option>a<option>b</select>', '(select(option("a") option("b")))'],
    ['<h1>a<h2>b</h2>', '(h1("a") h2("b"))'],
    ['<p><span>a<div>b</div>', '(p(span("a")) div("b"))'],
  ])('ends elements where the standard does: %s', (html, expected) => {
    expect(outlineOf(html)).toBe(expected);
  });

  it('passes over end tags that belong to nothing, or would end a block from inside', () => {
    expect(outlineOf('<div><span><p>a</span>b</p></div>c')).toBe('(div(span(p("a" "b"))) "c")');
    expect(outlineOf('<table><tr><td></div>a</td></tr></table>')).toBe('(table(tr(td("a"))))');
  });

  it('has one html and one body, and what follows the body is still in it', () => {
    expect(outlineOf('<html><head><title>t</title><body>a<body>b</body></html>c')).toBe(
      '(html(head(title("t")) body("a" "b" "c")))',
    );
    expect(outlineOf('<head><meta charset=x><div>a</div>')).toBe('(head(meta) div("a"))');
  });

  it('reads raw elements as text and noscript as content', () => {
    expect(outlineOf('<script>if (a<b) "</p>"</script><style>p{}</style>')).toBe(
      '(script("if (a<b) \\"</p>\\"") style("p{}"))',
    );
    expect(outlineOf('<noscript><p>a &amp; b</p></noscript>')).toBe('(noscript(p("a & b")))');
  });

  it('is not swallowed by a frame that a noscript leaves open', () => {
    expect(outlineOf('<noscript><iframe src=x /></noscript><p>a</p>')).toBe('(noscript(iframe) p("a"))');
  });

  it('gives decoded attributes, the first of a name', () => {
    const tree = buildTree('<a HREF="/x?a&amp;b" class=c href=y data-x>t</a>');
    expect(tree.attributeNamed(1, 'href')).toBe('/x?a&b');
    expect(tree.attributeNamed(1, 'id')).toBeNull();
    expect([...tree.attributes(1)]).toEqual([
      ['href', '/x?a&b'],
      ['class', 'c'],
      ['data-x', ''],
    ]);
  });

  it('survives fifty megabytes of nested elements, cut at its limits', () => {
    const tree = buildTree('<div>'.repeat(10_000_000));
    expect(tree.isTruncated).toBe(true);
    expect(tree.count).toBeLessThanOrEqual(TREE_LIMITS.nodes);
  });

  it('keeps texts of elements beyond the depth limit', () => {
    const depth = TREE_LIMITS.depth + 50;
    const tree = buildTree(`${'<div>'.repeat(depth)}deep${'</div>'.repeat(depth)}<p>after</p>`);
    expect(tree.textOf(0, 100)).toBe('deepafter');
    expect(tree.isTruncated).toBe(true);
  });
});

const TAGS = [
  'p',
  'div',
  'b',
  'a',
  'li',
  'ul',
  'table',
  'tr',
  'td',
  'select',
  'option',
  'svg',
  'title',
  'noscript',
  'iframe',
  'br',
  'body',
  'html',
  'head',
  'x-y',
];
const soup = fc
  .array(
    fc.oneof(
      fc.constantFrom(...TAGS).map((tag) => `<${tag}>`),
      fc.constantFrom(...TAGS).map((tag) => `</${tag}>`),
      fc.constantFrom(
        '<a href="x">',
        '<p class="a b" id=c>',
        '<!--',
        '-->',
        '<',
        '&amp;',
        '&',
        '<![CDATA[',
        '<img src=x alt="y">',
      ),
      fc.string({ maxLength: 8 }),
    ),
    { maxLength: 60 },
  )
  .map((parts) => parts.join(''));

describe('any page', () => {
  it('gives a tree whose nodes lie inside their parents, in order', () => {
    fc.assert(
      fc.property(soup, (html) => {
        const tree = buildTree(html);
        for (let node = 1; node < tree.count; node++) {
          const parent = tree.parents[node] as number;
          expect(parent).toBeLessThan(node);
          expect(tree.isText(parent)).toBe(false);
          expect(tree.ends[node]).toBeGreaterThan(node);
          expect(tree.ends[node]).toBeLessThanOrEqual(tree.ends[parent] as number);
        }
        expect(tree.ends[0]).toBe(tree.count);
      }),
    );
  });
});
