import { describe, expect, it } from 'vitest';
import { highlight } from './highlight.ts';
import { renderMarkdown } from './render-markdown.ts';

const render = (markdown: string) =>
  renderMarkdown(markdown, {
    addressOf: (href) => (href === 'gone.md' ? null : href),
    pictureOf: (href) => (href === 'way.svg' ? '<svg></svg>' : null),
  });

describe('Markdown', () => {
  it('never becomes HTML that its writer did not mean', () => {
    const { html } = render('# A <script>\n\n<img src=x onerror=alert(1)> and `<b>`\n\n<div>raw</div>\n');
    expect(html).not.toMatch(/<(?:script|img|div|b)\b/);
    expect(html).toContain('&lt;img src=x');
  });

  it('loses its comments', () => {
    expect(render('<!-- settings -->\n\ntext').html).toBe('<p>text</p>\n');
  });

  it('gives headings the anchors that GitHub gives them', () => {
    const { headings } = render('# What `is` it?\n\n## A: b/c\n\n## A: b/c\n');
    expect(headings.map(({ id }) => id)).toEqual(['what-is-it', 'a-bc', 'a-bc-1']);
  });

  it('keeps the words of a link that leads nowhere', () => {
    expect(render('see [the page](gone.md)').html).toBe('<p>see the page</p>\n');
  });

  it('is searched section by section, tables and lists included', () => {
    const { sections } = render(
      '# T\n\nfirst\n\n## S\n\n- one `x`\n- two\n\n| a | b |\n| - | - |\n| c | d |\n',
    );
    expect(sections).toEqual([
      { id: 't', heading: 'T', text: 'first' },
      { id: 's', heading: 'S', text: 'one x two a b c d' },
    ]);
  });

  it('shows a picture as the drawing itself', () => {
    expect(render('![The way](way.svg)').html).toContain('aria-label="The way"><svg></svg>');
  });
});

describe('code', () => {
  it('is coloured without losing a character', () => {
    const code = 'curl -s "$URL" \\\n  -d \'{"a": 1}\' # send <it>\n';
    const html = highlight(code, 'sh');
    expect(html).toContain('<span class="t-c"># send &lt;it&gt;</span>');
    const text = html
      .replace(/<[^>]+>/g, '')
      .replace(
        /&(?:quot|#39|lt|gt|amp);/g,
        (entity) => ({ '&quot;': '"', '&#39;': "'", '&lt;': '<', '&gt;': '>' })[entity] ?? '&',
      );
    expect(text).toBe(code);
  });

  it('of an unknown language is only escaped', () => {
    expect(highlight('<x> "y"', 'cobol')).toBe('&lt;x&gt; &quot;y&quot;');
  });
});
