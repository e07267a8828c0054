import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { GOLDEN_PAGES } from '../golden-pages.fixture.ts';
import { renderContent } from './render-content.ts';

const URL_OF_PAGE = 'https://www.example.com/page';

function renderAll(html: string) {
  const tree = buildTree(html);
  return renderContent(tree, new Uint8Array(tree.count).fill(1), URL_OF_PAGE);
}

describe('clean HTML', () => {
  it('has only elements that mean something, and absolute addresses', () => {
    expect(
      renderAll('<div class=x onclick=y><p style=z>a <a href=/b>c</a><script>1</script></p>d</div>').html,
    ).toBe('<p>a <a href="https://www.example.com/b">c</a></p><p>d</p>');
  });

  it('keeps addresses to write to and to call, in Markdown as well, and no other schemes', () => {
    const { html, markdown, text } = renderAll(
      `<p><a href="mailto:ada@a.example?subject=Hi (all)">Ada</a>, <a href=" TEL:+49-30-1 ">phone</a>,
       <a href="mailto:?subject=Look">share</a>, <a href="javascript:x()">script</a>, <a href="sms:1">text</a></p>`,
    );
    expect(markdown.trimEnd()).toBe(
      '[Ada](mailto:ada@a.example?subject=Hi%20%28all%29), [phone](tel:+49-30-1), share, script, text',
    );
    expect(html).toContain('<a href="tel:+49-30-1">phone</a>');
    expect(text.trimEnd()).toBe('Ada, phone, share, script, text');
  });

  it('escapes text and attributes', () => {
    expect(renderAll('<p>&lt;script&gt; &amp; <img src="/x" alt="&quot;&gt;"></p>').html).toBe(
      '<p>&lt;script&gt; &amp; <img src="https://www.example.com/x" alt="&quot;&gt;"></p>',
    );
  });

  const element = fc.constantFrom(
    'p',
    'div',
    'ul',
    'ol',
    'li',
    'b',
    'em',
    'a href="/x"',
    'table',
    'tr',
    'td',
    'pre',
    'code',
    'blockquote',
    'h2',
    'dl',
    'dt',
    'dd',
    'span',
    'figure',
  );
  const markup = fc
    .array(
      fc.oneof(
        element.map((name) => `<${name}>`),
        element.map((name) => `</${name.split(' ')[0]}>`),
        fc.constantFrom(
          '<br>',
          '<hr>',
          '<img src=/i alt=j>',
          '<input type=checkbox>',
          ' ',
          '\n',
          '&amp;',
          '&lt;b>',
        ),
        fc.stringMatching(/^[a-z *_#|`~\\<>[\]()!.-]{1,10}$/),
      ),
      { maxLength: 40 },
    )
    .map((parts) => parts.join(''));

  it('cleaned again stays as it is', () => {
    fc.assert(
      fc.property(markup, (html) => {
        const once = renderAll(html).html;
        expect(renderAll(once).html).toBe(once);
      }),
      { numRuns: 500 },
    );
  });

  it('says in all three forms what the page says, and nothing else', () => {
    const words = (text: string) => text.match(/[a-z]+/g) ?? [];
    fc.assert(
      fc.property(markup, (html) => {
        const { text, markdown } = renderAll(html);
        const said = new Set(words(buildTree(html).textOf(0, 100_000).toLowerCase()));
        const bare = markdown
          .replace(/\]\(https:[^)]*\)/g, ']')
          .replaceAll('![j]', '')
          .replaceAll('<!-- -->', '');
        // Words that mark-up cut in two may stand together in the page's text.
        const all = [...said].join(' ');
        for (const word of [...words(text), ...words(bare)]) expect(all).toContain(word);
      }),
      { numRuns: 500 },
    );
  });

  it('is the same every time', () => {
    for (const { html } of GOLDEN_PAGES) expect(renderAll(html)).toEqual(renderAll(html));
  });
});
