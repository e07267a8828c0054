import { describe, expect, it } from 'vitest';
import { buildTree } from '../tree/tree-builder.ts';
import { extractContent } from './extract-content.ts';
import { GOLDEN_PAGES } from './golden-pages.fixture.ts';

/** Signs without a width: marks that are words would make the pages others than they are. */
const KEPT = '\u2063';
const LEFT = '\u2064';

const contentOf = (html: string, url = 'https://www.example.com/page') =>
  extractContent(buildTree(html), url);

describe('the content of a page', () => {
  it.each(GOLDEN_PAGES.map((page) => [page.type, page] as const))(
    'of type %s has all that it is about and nothing around it',
    (_type, { html: marked, url }) => {
      const html = marked.replaceAll(' KEEP', KEPT).replaceAll(' DROP', LEFT);
      const { text, markdown, html: clean } = contentOf(html, url);
      const wanted = html.split(KEPT).length - 1;
      for (const form of [text, markdown, clean]) {
        expect(form.split(KEPT).length - 1).toBe(wanted);
        expect(form).not.toContain(LEFT);
      }
    },
  );

  it('has no links that only do something', () => {
    const forum = GOLDEN_PAGES.find(({ type }) => type === 'forum');
    expect(contentOf(forum?.html ?? '', forum?.url).text).not.toMatch(/Reply|Quote/);
  });

  it('comes with what the page says about it', () => {
    const article = GOLDEN_PAGES[0];
    if (article === undefined) throw new Error('no article');
    expect(contentOf(article.html, article.url)).toMatchObject({
      title: 'The night of the flood',
      author: 'Ann Bell',
      publishedAt: '2025-03-04T08:00:00.000Z',
      modifiedAt: '2025-03-05',
      siteName: 'Acme',
      language: 'en',
      excerpt: expect.stringContaining('The river had been rising'),
      readingMinutes: 1,
      isTruncated: false,
    });
  });

  it('is read from noscript where the page has its text only there', () => {
    const paragraphs = Array.from(
      { length: 6 },
      (_, index) => `<p>Paragraph ${index} of a long post, which says a number of things, and ends here.</p>`,
    );
    const { text } = contentOf(
      `<body><div id="app"></div><noscript><div class="post">${paragraphs.join('')}</div></noscript></body>`,
    );
    expect(text.split('\n\n')).toHaveLength(6);
  });

  it('is what the page states in its data where a script would have to show it', () => {
    const body =
      'The whole text of the article, with several sentences. It is only here, in the data of the page.';
    const data = JSON.stringify({
      '@type': 'Article',
      headline: 'T',
      articleBody: `${body}\n\nSecond paragraph of it.`,
    });
    const { text, markdown } = contentOf(
      `<body><div id="root">Loading</div><script type="application/ld+json">${data}</script></body>`,
    );
    expect(text).toBe(`${body}\n\nSecond paragraph of it.`);
    expect(markdown).toBe(`${body}\n\nSecond paragraph of it.\n`);
  });

  it('is not what others said, unless they talk with each other', () => {
    const said = 'I bought this for my kitchen and it does all that I hoped for, even on the worst of days.';
    const contentWith = (data: object) =>
      contentOf(
        `<body><div id="root">Loading</div><script type="application/ld+json">${JSON.stringify(data)}</script></body>`,
      ).text;
    const review = { '@type': 'Review', reviewBody: said, text: said };
    expect(contentWith({ '@type': 'Product', name: 'Blender', review: [review] })).toBe('Loading');
    const comment = { '@type': 'Comment', text: said };
    expect(contentWith({ '@type': 'Article', headline: 'T', comment: [comment] })).toBe('Loading');
    expect(contentWith({ '@type': 'DiscussionForumPosting', comment: [comment] })).toBe(said);
  });

  it('is empty where a page only asks for a script', () => {
    const { text, wordCount, excerpt } = contentOf(
      '<head><meta name="description" content="What we sell."></head><body><div id="root"></div><noscript>You need to enable JavaScript to run this app.</noscript></body>',
    );
    expect({ text, wordCount, excerpt }).toEqual({ text: '', wordCount: 0, excerpt: 'What we sell.' });
  });

  it('is all that a very small page shows', () => {
    expect(contentOf('<h1>It works!</h1>').text).toBe('It works!');
  });

  it('is empty, without facts, for a page that is', () => {
    expect(contentOf('')).toMatchObject({
      html: '',
      text: '',
      markdown: '',
      title: null,
      author: null,
      publishedAt: null,
      modifiedAt: null,
      siteName: null,
      language: null,
      excerpt: null,
      wordCount: 0,
      readingMinutes: 0,
    });
  });

  it('holds a text once that the page has twice', () => {
    const post =
      '<p>A paragraph that the page shows on wide screens, and again on narrow ones, word for word.</p>';
    const { text } = contentOf(
      `<main><article><h1>T</h1><div class="wide">${post}</div><div class="narrow">${post}</div></article></main>`,
    );
    expect(text.split('word for word')).toHaveLength(2);
  });

  it('keeps the language of the header where the page names none', () => {
    const tree = buildTree('<p>Bonjour tout le monde, voici une phrase.</p>');
    expect(extractContent(tree, 'https://example.com/', { contentLanguage: 'fr' }).language).toBe('fr');
  });
});
