import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { renderContent } from './render-content.ts';

function markdownOf(html: string): string {
  const tree = buildTree(html);
  return renderContent(tree, new Uint8Array(tree.count).fill(1), 'https://example.com/dir/page').markdown;
}

describe('Markdown', () => {
  it('has headings, paragraphs, emphasis and rules', () => {
    expect(
      markdownOf('<h2>A <b>b</b></h2><p>one <strong> two</strong><em>three </em>four</p><hr><div>five</div>'),
    ).toBe('## A b\n\none **two** *three* four\n\n---\n\nfive\n');
    expect(markdownOf('<p><del>old</del> new<br>line</p>')).toBe('~~old~~ new  \nline\n');
  });

  it('has absolute links and images with their texts', () => {
    expect(markdownOf('<p>see <a href="../x(1)">this [one]</a> <img src=/i.png alt="an *image*"></p>')).toBe(
      'see [this \\[one\\]](https://example.com/x%281%29) ![an \\*image\\*](https://example.com/i.png)\n',
    );
    expect(markdownOf('<p><a href="javascript:x()">run</a> <a href="#top">up</a> <a href=/e></a></p>')).toBe(
      'run up\n',
    );
  });

  it('links the first line of a card, not every line of it', () => {
    expect(markdownOf('<a href=/c><h3>Card</h3><p>Text</p></a>')).toBe(
      '### [Card](https://example.com/c)\n\nText\n',
    );
  });

  it('nests lists and knows tasks', () => {
    expect(markdownOf('<ul><li>a<ol start=3><li>b</li><li>c<p>d</p></li></ol></li><li>e</li></ul>')).toBe(
      '- a\n  3. b\n  4. c\n\n     d\n- e\n',
    );
    expect(
      markdownOf('<ul><li><input type=checkbox checked> done</li><li><input type=checkbox> open</li></ul>'),
    ).toBe('- [x] done\n- [ ] open\n');
  });

  it('quotes blocks', () => {
    expect(markdownOf('<blockquote><p>a</p><p>b</p></blockquote><p>c</p>')).toBe('> a\n>\n> b\n\nc\n');
  });

  it('fences code with its language, and with a longer fence than the code holds', () => {
    expect(
      markdownOf('<pre><code class="hljs language-ts">const a = 1;\n  if (a &lt; b) {}</code></pre>'),
    ).toBe('```ts\nconst a = 1;\n  if (a < b) {}\n```\n');
    expect(markdownOf('<div class="highlight-python"><pre>x\n```\ny</pre></div>')).toBe(
      '````python\nx\n```\ny\n````\n',
    );
    expect(markdownOf('<pre><code><div>a</div><div>b</div></code></pre>')).toBe('```\na\nb\n```\n');
    expect(markdownOf('<p>call <code>f(`x`)</code></p>')).toBe('call ``f(`x`)``\n');
  });

  it('writes tables, with as many columns in every row', () => {
    expect(
      markdownOf(
        '<table><caption>Sizes</caption><tr><th>Name<th>W | H<tr><td>a<br>b<td><b>1</b><tr><td colspan=2>none</table>',
      ),
    ).toBe('Sizes\n\n| Name | W \\| H |\n| --- | --- |\n| a b | **1** |\n| none |  |\n');
  });

  it('reads tables that only place things as the blocks they hold', () => {
    expect(
      markdownOf('<table><tr><td><h2>A</h2></td><td><p>b</p></td></tr><tr><td>c</td></tr></table>'),
    ).toBe('## A\n\nb\n\nc\n');
  });

  it('escapes what would read as mark-up', () => {
    expect(
      markdownOf(
        '<p># no</p><p>1. no</p><p>- no</p><p>a * b_c _d_ `e` &lt;b> &amp;amp; ~~f~~ snake_case</p>',
      ),
    ).toBe('\\# no\n\n1\\. no\n\n\\- no\n\na \\* b_c \\_d\\_ \\`e\\` \\<b> \\&amp; \\~~f\\~~ snake_case\n');
  });

  it('turns terms into bold lines', () => {
    expect(markdownOf('<dl><dt>Weight</dt><dd>2 kg</dd></dl>')).toBe('**Weight**\n\n2 kg\n');
  });
});
