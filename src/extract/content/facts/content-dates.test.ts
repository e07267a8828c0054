import { describe, expect, it } from 'vitest';
import { buildTree } from '../../tree/tree-builder.ts';
import { gatherEvidence } from '../features/evidence.ts';
import type { PageType } from '../model/model.ts';
import { contentFacts } from './content-facts.ts';

const PROSE =
  '<p>The river had been rising for days, and by the evening the water stood in the cellars of the old town.</p>'.repeat(
    8,
  );

interface Page {
  readonly head?: string;
  readonly body?: string;
  readonly type?: PageType;
  readonly url?: string;
  readonly language?: string;
}

/** The day of publication and that of the last change. */
function datesOf(page: Page): readonly (string | null)[] {
  const {
    head = '',
    body = '',
    type = 'article',
    url = 'https://www.acme.example/flood',
    language = 'en',
  } = page;
  const html = `<html lang="${language}"><head><title>The night of the flood</title>${head}</head><body>${body}</body></html>`;
  const facts = contentFacts(gatherEvidence(buildTree(html), url).evidence, type, null);
  return [facts.publishedAt, facts.modifiedAt];
}

const data = (value: unknown): string =>
  `<script type="application/ld+json">${JSON.stringify(value)}</script>`;
const TITLE = '<h1>The night of the flood</h1>';
const article = (line: string, after = ''): string =>
  `<main><article>${TITLE}${line}${PROSE}</article>${after}</main>`;

describe('the dates of a page', () => {
  it('are those of the work in its data, with the offset that is stated', () => {
    const work = {
      '@type': 'Article',
      datePublished: '2025-03-04T09:00:00+01:00',
      dateModified: '2025-03-05T10:00',
    };
    expect(datesOf({ head: data(work) })).toEqual(['2025-03-04T09:00:00+01:00', '2025-03-05']);
  });

  it('keep the day of an evening post, which is another one in UTC', () => {
    const work = { '@type': 'Article', datePublished: '2025-03-04T21:30-05:00' };
    expect(datesOf({ head: data(work) })).toEqual(['2025-03-04T21:30:00-05:00', null]);
  });

  it('are not those of a review', () => {
    const review = { '@type': 'Review', datePublished: '2025-03-04' };
    expect(datesOf({ head: data(review), type: 'product' })).toEqual([null, null]);
  });

  it('are told by meta tags', () => {
    const head =
      '<meta property="article:published_time" content="2025-03-04T08:00:00Z"><meta name="last-modified" content="March 5, 2025">';
    expect(datesOf({ head })).toEqual(['2025-03-04T08:00:00.000Z', '2025-03-05']);
  });

  it.each([
    ['<time datetime="2025-03-04">a year ago</time>', '2025-03-04', null],
    ['<time>4 March 2025</time>', '2025-03-04', null],
    ['<time class="published updated" datetime="2025-03-04">4 March</time>', '2025-03-04', null],
    ['<p>Last updated: <time datetime="2025-03-04">4 March</time></p>', null, '2025-03-04'],
    ['<p>Updated</p><time datetime="2025-03-04">4 March</time>', null, '2025-03-04'],
    ['<span itemprop="datePublished">October 17, 2018</span>', '2018-10-17', null],
    ['<p>Published December 17, 2025</p>', '2025-12-17', null],
    ['<p>Dec 17, 2025 · 5 min read</p>', '2025-12-17', null],
    ['<p>September 1st, 2023 <span>By Emily Norwood</span></p>', '2023-09-01', null],
    ['<p>by Jon Foster - 2025-09-13<br>Updated: 2025-09-14</p>', '2025-09-13', '2025-09-14'],
    [
      '<div>Published</div><div>July 8, 2025</div><div>Last updated:</div><div>July 9, 2025</div>',
      '2025-07-08',
      '2025-07-09',
    ],
    ['<p>17.05.2021</p>', '2021-05-17', null],
    ['<p>Veröffentlicht am 4. März 2025</p>', '2025-03-04', null],
    ['<p>03/04/2025</p>', null, null],
    ['<p>Two days ago</p>', null, null],
    ['<p>Joined: March 4, 2025</p>', null, null],
    ['<p>Founded: March 4, 2025</p>', null, null],
    ['<p>March 2025</p>', null, null],
    ['<p>We met on March 4, 2025 and spoke about what to do</p>', null, null],
  ])('near the title are read from %s', (line, published, modified) => {
    expect(datesOf({ body: article(line) })).toEqual([published, modified]);
  });

  it('in numbers count where the language of the page leaves no question', () => {
    expect(datesOf({ body: article('<p>03/04/2025</p>'), language: 'en-GB' })).toEqual(['2025-04-03', null]);
  });

  it.each([
    ['a side bar', '<aside><time datetime="2025-03-04">4 March</time></aside>'],
    ['a comment', '<div class="comments"><p>Posted on March 4, 2025</p></div>'],
    ['related entries', '<div class="related"><time datetime="2025-03-04">4 March</time></div>'],
    ['the footer', '<footer><time datetime="2025-03-04">4 March</time></footer>'],
    ['what follows the text', '<p>March 4, 2025</p>'],
  ])('are not those of %s', (_what, after) => {
    expect(datesOf({ body: article('', after) })).toEqual([null, null]);
  });

  it('may stand below the text when they say what they are', () => {
    const after = '<p>Posted on 15/12/2025 by Ann</p><p>This page was last modified on December 16, 2025</p>';
    expect(datesOf({ body: article('', after) })).toEqual(['2025-12-15', '2025-12-16']);
  });

  it('shown with an article go before what its data says of a later import', () => {
    const head = data({ '@type': 'Article', datePublished: '2025-11-05' });
    expect(datesOf({ head, body: article('<p>January 31, 2024</p>') })).toEqual(['2024-01-31', null]);
    expect(datesOf({ head, body: article('<p>November 4, 2025</p>') })).toEqual(['2025-11-05', null]);
  });

  it('of a thread are those of its first post', () => {
    const post = (day: string): string =>
      `<div class="post"><p>Joined: May 1, 2020</p><p>${day}</p>${PROSE}</div>`;
    const body = `<time datetime="2026-01-01">now</time>${TITLE}${post('June 4, 2024')}${post('June 9, 2024')}`;
    expect(datesOf({ body, type: 'forum' })).toEqual(['2024-06-04', null]);
  });

  it.each([
    ['https://www.acme.example/2025/12/18/flood', '2025-12-18'],
    ['https://www.acme.example/articles/2025-12-15+Flood', '2025-12-15'],
    ['https://www.acme.example/2025/12/flood', null],
    ['https://www.acme.example/2025/02/30/flood', null],
  ])('are at last those of the address %s', (url, published) => {
    expect(datesOf({ url, body: article('') })).toEqual([published, null]);
  });

  it.each(['listing', 'collection', 'product', 'service'] as const)(
    'of a %s are only what its data says',
    (type) => {
      const body = `${TITLE}<p>Published December 17, 2025</p><time datetime="2025-03-04">4 March</time>`;
      expect(datesOf({ type, body, url: 'https://www.acme.example/2025/12/18/' })).toEqual([null, null]);
      const head = data({ '@type': 'WebPage', datePublished: '2024-01-02' });
      expect(datesOf({ type, body, head })).toEqual(['2024-01-02', null]);
    },
  );
});
