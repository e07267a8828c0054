import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { gatherEvidence } from '../features/evidence.ts';
import type { PageType } from '../model/model.ts';
import { contentFacts } from './content-facts.ts';

const PROSE =
  '<p>The river had been rising for days, and by the evening the water stood in the cellars of the old town.</p>'.repeat(
    8,
  );

function authorOf(parts: { head?: string; body?: string; type?: PageType; url?: string }): string | null {
  const { head = '', body = '', type = 'article', url = 'https://www.acme.example/news/flood' } = parts;
  const html = `<html lang="en"><head><title>The night of the flood</title><meta property="og:site_name" content="The Daily Acme">${head}</head><body>${body}</body></html>`;
  return contentFacts(gatherEvidence(buildTree(html), url).evidence, type, null).author;
}

const data = (value: unknown): string =>
  `<script type="application/ld+json">${JSON.stringify(value)}</script>`;
const meta = (name: string, content: string): string => `<meta name="${name}" content="${content}">`;
const person = (name: string) => ({ '@type': 'Person', name });
const TITLE = '<h1>The night of the flood</h1>';
const article = (byline: string, after = ''): string =>
  `<main><article>${TITLE}${byline}${PROSE}</article>${after}</main>`;

describe('the author of a page', () => {
  it.each([
    ['of the article in its data', { '@type': 'NewsArticle', author: person('Ann Bell') }, 'Ann Bell'],
    ['of a thread', { '@type': 'DiscussionForumPosting', author: person('kilo7') }, 'kilo7'],
    [
      'all of several',
      { '@type': 'Article', author: [person('Ann Bell'), person('Bob Ray')] },
      'Ann Bell, Bob Ray',
    ],
    [
      'told elsewhere in the data',
      {
        '@graph': [
          { '@type': 'WebPage', author: { '@id': '#ann' } },
          { ...person('Ann Bell'), '@id': '#ann' },
        ],
      },
      'Ann Bell',
    ],
    ['without the paper', { '@type': 'Article', author: person('Ann Bell, The Daily Acme') }, 'Ann Bell'],
    ['not of a review', { '@type': 'Review', author: person('Ann Bell') }, null],
    ['not of an answer', { '@type': 'Answer', author: person('Ann Bell') }, null],
    ['not of a picture', { '@type': 'ImageObject', author: person('Ann Bell') }, null],
    [
      'not the site',
      { '@type': 'Article', author: { '@type': 'Organization', name: 'The Daily Acme' } },
      null,
    ],
    ['the site that is a person', { '@type': 'Article', author: person('The Daily Acme') }, 'The Daily Acme'],
    ['not an empty name', { '@type': 'Article', author: person('') }, null],
  ])('is %s', (_what, value, author) => {
    expect(authorOf({ head: data(value) })).toBe(author);
  });

  it.each([
    ['author', 'Ann Bell', 'Ann Bell'],
    ['author', 'By Ann Bell | Updated on 19-Dec-2025', 'Ann Bell'],
    ['author', 'Ann Bell – Ann Bell', 'Ann Bell'],
    ['author', 'acme', null],
    ['author', 'The Daily Acme Inc.', null],
    ['author', 'ann@acme.example', null],
    ['author', '/acmerentals', null],
    ['author', 'admin', null],
    ['article:author', 'https://www.facebook.com/ann', null],
    ['twitter:creator', 'AcmeNews', null],
    ['citation_author', 'Bell, Ann', 'Ann Bell'],
  ])('of the meta tag %s with %j is %j', (name, content, author) => {
    expect(authorOf({ head: meta(name, content) })).toBe(author);
  });

  it('is all that a paper names', () => {
    const head = ['Ann Bell', 'Bob Ray', 'Ann Bell'].map((name) => meta('dc.creator', name)).join('');
    expect(authorOf({ head })).toBe('Ann Bell, Bob Ray');
  });

  it.each([
    ['a line', '<p>By Ann Bell</p>'],
    ['a line with more', '<p>By Ann Bell, Staff writer · March 4, 2025</p>'],
    ['a line with the date first', '<div class="meta">March 4, 2025 <span>By Ann Bell</span></div>'],
    ['a label before', '<div>Written by</div><div>Ann Bell</div>'],
    ['a class', '<div class="post-author"><p>Ann Bell</p><small>March 4, 2025</small></div>'],
    ['where a link leads', '<ul><li><a href="/authors/ann-bell/">Ann Bell</a></li></ul>'],
    ['a relation', '<p>Words: <a rel="author" href="/ann">Ann Bell</a></p>'],
    [
      'a property with a name inside',
      '<div itemprop="author" itemscope><b itemprop="name">Ann Bell</b> 15,911 points</div>',
    ],
  ])('is named near the title by %s', (_what, byline) => {
    expect(authorOf({ body: article(byline) })).toBe('Ann Bell');
  });

  it.each([
    ['who checked it', '<p>Reviewed by Ann Bell</p>'],
    ['a button', '<div class="author"><a href="/authors/">View all posts</a></div>'],
    ['who paid for it', '<p>Sponsored by Bell Boats</p>'],
  ])('is not %s', (_what, byline) => {
    expect(authorOf({ body: article(byline) })).toBeNull();
  });

  it.each([
    ['a comment', `<section class="comments"><a rel="author" href="/u/1">Bob Ray</a> Well said.</section>`],
    ['a related entry', `<div class="related"><p>Written by Bob Ray</p></div>`],
    ['a side bar', `<aside><a rel="author" href="/u/1">Bob Ray</a></aside>`],
  ])('is not that of %s', (_what, after) => {
    expect(authorOf({ body: article('', after) })).toBeNull();
  });

  it('is named below the text where nothing above says it', () => {
    expect(
      authorOf({ body: article('', '<div>Text by <a href="/contributor/ann">Ann Bell</a></div>') }),
    ).toBe('Ann Bell');
    const two = '<div>Text by Ann Bell</div><div>Text by Bob Ray</div>';
    expect(authorOf({ body: article('', two) })).toBeNull();
  });

  it('of a thread is who asked, not who answered or commented', () => {
    const by = (name: string): string =>
      `<div itemprop="author" itemscope><a href="/users/1">${name}</a><meta itemprop="name" content="${name}"></div>`;
    const body = `${TITLE}<div itemprop="mainEntity"><div itemprop="comment">Hm. ${by('third')}</div>${PROSE}${by('first')}</div><div itemprop="suggestedAnswer">${PROSE}${by('second')}</div>`;
    expect(authorOf({ body, type: 'forum' })).toBe('first');
  });

  it.each(['listing', 'collection', 'product', 'service'] as const)(
    'of a %s is only what its data says',
    (type) => {
      const body = `${TITLE}<p>By Ann Bell</p><a rel="author" href="/ann">Ann Bell</a>`;
      expect(authorOf({ body, type })).toBeNull();
      expect(authorOf({ body, type, head: data({ '@type': 'WebPage', author: person('Bob Ray') }) })).toBe(
        'Bob Ray',
      );
      const entries = ['Ann Bell', 'Bob Ray'].map((name) => ({
        '@type': 'BlogPosting',
        author: person(name),
      }));
      expect(authorOf({ body, type, head: data(entries) })).toBeNull();
    },
  );
});
