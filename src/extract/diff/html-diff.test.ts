import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildTree } from '../tree/tree-builder.ts';
import { treeLines } from './compare-pages.ts';
import { compileDiffRules, diffRulesSchema } from './diff-rules.ts';
import { diffDocuments, diffHtml } from './html-diff.ts';

describe('a diff of documents', () => {
  it('marks words within elements', () => {
    const diff = diffHtml('<p>It costs <b>19</b> EUR.</p>', '<p>It costs <b>91</b> EUR.</p>');
    expect(diff.html).toBe('<p>It costs <b><del>19</del><ins>91</ins></b> EUR.</p>');
    expect(diff.changes).toEqual([{ kind: 'changed', path: 'p > b', before: '19', after: '91' }]);
  });

  it('has elements that came and those that went', () => {
    const diff = diffHtml('<ul><li>one<li>two</ul>', '<ul><li>one<li>three<li>two</ul>');
    expect(diff.html).toBe('<ul><li>one</li><li><ins>three</ins></li><li>two</li></ul>');
    expect(diff.changes).toMatchObject([{ kind: 'added' }]);
    expect(diffHtml('<p>a</p><p>b</p>', '<p>a</p>').html).toBe('<p>a</p><del>b</del>');
  });

  it('tells of links that lead elsewhere', () => {
    const diff = diffHtml('<a href="https://a.test/">x</a>', '<a href="https://b.test/">x</a>');
    expect(diff.changes).toEqual([
      {
        kind: 'changed',
        path: 'a',
        before: '<a href="https://a.test/">',
        after: '<a href="https://b.test/">',
      },
    ]);
  });

  it('is empty for scripts, styles, comments and layout', () => {
    const a = '<style>a{}</style><script>1</script><p class="x" onclick="y()">Text\n  here</p><!-- c -->';
    expect(diffHtml(a, '<p>Text here</p>').changes).toEqual([]);
  });

  it('holds nothing that runs', () => {
    const hostile =
      '<p>a<img src=x onerror=alert(1)><a href="javascript:alert(1)">b</a><script>alert(1)</script>' +
      '<iframe src=https://x.test></iframe><svg onload=alert(1)></svg><a href="https://x.test/&quot;onclick=&quot;y">c</a>&lt;script&gt;';
    const { html } = diffHtml('<p>old</p>', hostile);
    expect(html).not.toMatch(/<script|<iframe|<svg|javascript:|onerror|onload/i);
    for (const tag of html.match(/<[^>]*>/g) ?? []) expect(tag).not.toMatch(/\son\w+=/);
    expect(html).toContain('&lt;script&gt;');
  });

  const piece = fc.constantFrom(
    '<p>',
    '</p>',
    '<b>',
    '</b>',
    '<ul><li>',
    '</ul>',
    'one ',
    'two ',
    '19',
    '&amp;',
    '<br>',
    '<img src="https://a.test/i" alt="i">',
  );
  const html = fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join(''));

  it('shows the later text, and every element has its end', () => {
    fc.assert(
      fc.property(html, html, (a, b) => {
        const diff = diffHtml(a, b);
        const withoutRemoved = diff.html.replace(/<del>.*?<\/del>/gs, '').replace(/<\/?ins>/g, '');
        const textOf = (text: string) => treeLines(buildTree(text)).join(' ').replace(/\s+/g, '');
        expect(textOf(withoutRemoved)).toBe(textOf(b));
        const open: string[] = [];
        for (const [, end, name = ''] of diff.html.matchAll(/<(\/?)(\w+)[^>]*>/g)) {
          if (/^(?:br|img|hr)$/.test(name)) continue;
          if (end === '') open.push(name);
          else expect(open.pop()).toBe(name);
        }
        expect(open).toEqual([]);
      }),
    );
  });

  it('is coarse and bounded for documents with nothing in common', () => {
    const many = (letter: string) =>
      Array.from({ length: 5_000 }, (_, at) => `<p>${letter}${at}</p>`).join('');
    const diff = diffHtml(many('a'), many('b'), { steps: 100_000 });
    expect(diff.isCoarse).toBe(true);
    expect(diff.changes.length).toBeLessThanOrEqual(1_000);
  });
});

describe('a diff of two pages', () => {
  const rules = (input: unknown) => compileDiffRules(diffRulesSchema.parse(input));
  const page = (html: string) => ({ url: 'https://a.test/b/', html });

  it('takes relative addresses for what they lead to', () => {
    const diff = diffDocuments(page('<a href="../x">x</a>'), page('<a href="/y">x</a>'), rules({}), () => 0);
    expect(diff.changes).toMatchObject([
      { before: '<a href="https://a.test/x">', after: '<a href="https://a.test/y">' },
    ]);
  });

  it('leaves out what the rules ignore', () => {
    const [a, b] = [page('<p>Text<p class=ad>1<p>7 visitors'), page('<p>Text<p class=ad>2<p>8 visitors')];
    expect(diffDocuments(a, b, rules({}), () => 0).changes).toHaveLength(2);
    const ignore = { selectors: ['.ad'], patterns: ['\\d+ visitors'] };
    expect(diffDocuments(a, b, rules({ ignore }), () => 0).changes).toEqual([]);
  });
});
