import { elementLines, elementText } from '../structured/element-text.ts';
import {
  type StateObject,
  searchState,
  stateList,
  stateScalarText,
  stateText,
  stateValue,
} from '../structured/embedded/embedded-state.ts';
import { addresses, type DataItem, itemValue, labels, textValue } from '../structured/item.ts';
import { type Draft, defineType } from './draft.ts';
import type { TypedEvidence } from './evidence.ts';
import { aboutItems, field, keywordsOf } from './field.ts';
import { picturesIn } from './markup.ts';

const FIELDS = {
  title: field('text', 'The headline.'),
  authors: field('texts', 'Who wrote it.'),
  publishedAt: field('date', 'When it appeared, ISO 8601.'),
  modifiedAt: field('date', 'When it was last changed.'),
  description: field('body', 'Summary or lead.'),
  body: field(
    'body',
    'The text itself, with an empty line between paragraphs; where no data of the page has it, the main content.',
  ),
  section: field('text', 'The part of the site it belongs to.'),
  tags: field('texts', 'Keywords.'),
  images: field('urls', 'Addresses of its pictures.'),
  siteName: field('text', 'Who publishes it.'),
  language: field('text', 'Language tag.'),
  wordCount: field('count', 'Words of the text.'),
  breadcrumbs: field('crumbs', 'Where in the site it is: `name` and `url` each.'),
  url: field('url', 'The address the page wants to be known by.'),
} as const;

type ArticleFields = typeof FIELDS;

const ARTICLE =
  /^(?:\w*Article|BlogPosting|LiveBlogPosting|Report|Review|ReportageNewsArticle|OpinionNewsArticle)$/;
const BODY_CHARS = 50_000;
const BYLINE = /[\s_-](?:byline|author|author-name|post-author|entry-author|article-author|writer)[\s_-]/;
const TEXT =
  /[\s_-](?:entry-content|post-content|article-content|article-body|articlebody|post-body|gh-content|theme-doc-markdown|markdown-body|story-body|rst-content|vp-doc|docs-content|doc-content|md-content)[\s_-]/;
const DATED = /[\s_-](?:published|entry-date|post-date|dateline|article-date|pubdate|date|byline-meta)[\s_-]/;
const TAGS = /[\s_-](?:tags|tag-list|post-tags|tags-links|article-tags)[\s_-]/;
const SECTION = /[\s_-](?:cat-links|post-category|article-section|kicker|primary-tag)[\s_-]/;

/** A text with a headline: news, a blog post, a page of documentation. */
export const article = defineType({
  name: 'article',
  says: 'A text with a headline: news, a blog post, a page of documentation.',
  fields: FIELDS,

  weigh(evidence) {
    const items = evidence.items((type) => ARTICLE.test(type) && type !== 'Review');
    if (items.length > 0) return items.length > 5 ? 0.4 : 0.9;
    const { markup } = evidence;
    if (evidence.openGraph('type') === 'article' || evidence.openGraph('article:published_time') !== null)
      return 0.75;
    const elements = markup.tagged('article');
    const hasText = markup.firstNamed(TEXT) !== null;
    if (elements.length === 1 || hasText)
      return hasText || markup.tagged('time', elements[0]).length > 0 ? 0.6 : 0.45;
    return 0;
  },

  read(evidence, draft) {
    for (const item of aboutItems(evidence, (type) => ARTICLE.test(type))) {
      const { source } = item;
      draft.give('title', textValue(item, 'headline', 'name'), source);
      draft.give('authors', labels(item, 'author', 'creator'), source);
      draft.give('publishedAt', textValue(item, 'datePublished', 'dateCreated'), source);
      draft.give('modifiedAt', textValue(item, 'dateModified'), source);
      draft.give('description', textValue(item, 'description', 'abstract'), source);
      draft.give('body', statedBody(evidence, item), source);
      draft.give('section', labels(item, 'articleSection')[0], source);
      draft.give('tags', keywordsOf(item, 'keywords'), source);
      draft.give('images', addresses(item, 'image', 'thumbnailUrl'), source);
      draft.give('siteName', textValue(itemValue(item, 'publisher'), 'name'), source);
      draft.give('language', textValue(item, 'inLanguage'), source);
      draft.give('wordCount', textValue(item, 'wordCount'), source);
      draft.give('url', textValue(item, 'url'), source);
    }
    readState(evidence, draft);
    readHead(evidence, draft);
    readMarkup(evidence, draft);
  },
});

const BODY_PROPERTY = /(?:^|[\s:/])articleBody(?:\s|$)/;
/** Characters by which the element of a value is recognised. */
const SAME_CHARS = 100;

/** Microdata and RDFa hold the text of an element on one line; its paragraphs are those of the element. */
function statedBody(evidence: TypedEvidence, item: DataItem): string | null {
  const text = textValue(item, 'articleBody', 'text', 'reviewBody');
  if (text === null || item.source === 'json-ld') return text;
  const { markup } = evidence;
  const { tree } = markup;
  const name = item.source === 'microdata' ? 'itemprop' : 'property';
  for (let node = 1; node < tree.count; node++) {
    if (tree.isText(node) || !BODY_PROPERTY.test(markup.attribute(node, name) ?? '')) continue;
    const found = paragraphsOf(evidence, node);
    if (
      found
        .slice(0, SAME_CHARS)
        .replaceAll('\n\n', ' ')
        .startsWith(text.slice(0, SAME_CHARS / 2))
    )
      return found;
  }
  return text;
}

function readHead(evidence: TypedEvidence, draft: Draft<ArticleFields>): void {
  const { head } = evidence.parts;
  draft.give('title', evidence.withoutSite(evidence.openGraph('title')), 'open-graph', 0.75);
  draft.give('publishedAt', evidence.openGraph('article:published_time'), 'open-graph');
  draft.give(
    'modifiedAt',
    evidence.openGraph('article:modified_time') ?? evidence.openGraph('updated_time'),
    'open-graph',
  );
  draft.give('section', evidence.openGraph('article:section'), 'open-graph');
  draft.give('tags', evidence.openGraphAll('article:tag'), 'open-graph');
  draft.give('description', evidence.openGraph('description'), 'open-graph');
  draft.give('images', evidence.openGraphAll('image'), 'open-graph');
  draft.give('siteName', evidence.openGraph('site_name'), 'open-graph');
  draft.give('url', evidence.openGraph('url'), 'open-graph');
  const named = evidence.openGraph('article:author');
  if (named !== null && !/^https?:/.test(named))
    draft.give('authors', evidence.openGraphAll('article:author'), 'open-graph');
  draft.give('authors', evidence.meta('author') ?? head.dublinCore.get('creator'), 'meta');
  draft.give(
    'publishedAt',
    head.dublinCore.get('date')?.[0] ?? head.dublinCore.get('issued')?.[0] ?? evidence.meta('date'),
    'meta',
  );
  draft.give('description', evidence.meta('description'), 'meta');
  draft.give('tags', evidence.meta('keywords')?.split(/\s*,\s*/), 'meta', 0.5);
  const { canonical } = head.links;
  draft.give('url', canonical ?? evidence.page.url, canonical === null ? 'url' : 'meta', 0.9);
  draft.give('language', evidence.language, 'markup', 0.8);
}

const KEYS = ['title', 'headline'];
const BODIES = ['content', 'body', 'html', 'articleBody', 'contentHtml', 'bodyHtml'];
const DATES = [
  'publishedAt',
  'published_at',
  'datePublished',
  'date',
  'publishDate',
  'createdAt',
  'created_at',
  'firstPublished',
];

function readState(evidence: TypedEvidence, draft: Draft<ArticleFields>): void {
  if (draft.has('title') && draft.has('body')) return;
  const heading = evidence.markup.text(evidence.markup.heading)?.toLowerCase() ?? null;
  const match = searchState(evidence.states, (object) => {
    const title = stateText(object, ...KEYS);
    if (title === null || stateText(object, ...DATES) === null || stateText(object, ...BODIES) === null)
      return 0;
    return stateScalarText(title)?.toLowerCase().trim() === heading ? 3 : 1;
  });
  if (match === null) return;
  const { object } = match;
  const confidence = match.score > 1 ? 0.85 : 0.6;
  const source = 'embedded-state';
  draft.give('title', stateText(object, ...KEYS), source, confidence);
  draft.give('publishedAt', stateText(object, ...DATES), source, confidence);
  draft.give(
    'modifiedAt',
    stateText(object, 'updatedAt', 'updated_at', 'dateModified', 'modified'),
    source,
    confidence,
  );
  draft.give('body', stateText(object, ...BODIES), source, confidence);
  draft.give(
    'description',
    stateText(object, 'description', 'excerpt', 'summary', 'dek'),
    source,
    confidence,
  );
  draft.give('authors', namesIn(object, 'authors', 'author', 'primary_author'), source, confidence);
  draft.give('tags', namesIn(object, 'tags', 'keywords'), source, confidence);
  draft.give('section', stateText(object, 'section', 'category', 'primary_tag'), source, confidence);
}

function namesIn(object: StateObject, ...keys: readonly string[]): string[] {
  const list = stateList(object, ...keys);
  const all = list.length > 0 ? list : [stateValue(object, ...keys)];
  return all.flatMap((entry) => stateScalarText(entry) ?? []);
}

function readMarkup(evidence: TypedEvidence, draft: Draft<ArticleFields>): void {
  const { markup } = evidence;
  const { tree } = markup;
  const [element] = markup.tagged('article');
  const around = element ?? markup.tagged('main')[0] ?? 0;
  draft.give('title', markup.text(markup.heading, 300), 'markup', 0.75);
  draft.give('title', evidence.ownTitle, 'text', 0.5);
  draft.give('authors', authorsIn(evidence, around), 'markup', 0.65);
  const times = markup.tagged('time', around);
  const written = times.map((node) => markup.attribute(node, 'datetime') ?? elementText(tree, node, 60));
  const updated = times.findIndex((node) =>
    /updated|modified/.test(`${markup.attribute(node, 'class') ?? ''}`),
  );
  const published = times.findIndex((_, index) => index !== updated);
  draft.give('publishedAt', written[published], 'markup', 0.7);
  if (updated >= 0) draft.give('modifiedAt', written[updated], 'markup', 0.7);
  if (!draft.has('publishedAt')) draft.give('publishedAt', datedText(evidence), 'text', 0.4);
  const text = markup.firstNamed(TEXT) ?? element ?? null;
  // Finding the main content is the most expensive step, so it is skipped when the text is known.
  if (!draft.has('body')) draft.give('body', bodyOf(evidence, draft, element ?? null), 'markup', 0.65);
  if (text !== null) draft.give('images', picturesIn(markup, text), 'markup', 0.5);
  const tagBox = markup.firstNamed(TAGS);
  if (tagBox !== null)
    draft.give(
      'tags',
      markup.tagged('a', tagBox).map((node) => elementText(tree, node, 60)),
      'markup',
      0.6,
    );
  draft.give('section', markup.textNamed(SECTION, 60), 'markup', 0.5);
  const words = draft.get('body')?.split(/\s+/).length;
  draft.give('wordCount', words, 'text', 0.6);
  const trail = evidence.parts.breadcrumbs;
  if (trail !== null) draft.give('breadcrumbs', trail.crumbs, trail.from);
}

/** Lines at the start of a text that may repeat title, author or date. */
const HEAD_LINES = 6;
/** A page of fewer words is one about which the content model has too little to decide on. */
const FEW_WORDS = 100;

/**
 * The main content without title and byline, which have fields of their own. For short texts, the element that its class
 * names as the body.
 */
function bodyOf(evidence: TypedEvidence, draft: Draft<ArticleFields>, element: number | null): string | null {
  const { markup } = evidence;
  const named = paragraphsOf(evidence, markup.firstNamed(TEXT));
  if (named !== '' && named.split(/\s+/, FEW_WORDS).length < FEW_WORDS) return named;
  const told = [draft.get('title'), ...(draft.get('authors') ?? [])].map((text) => text?.toLowerCase());
  let head = 0;
  const lines = evidence.contentText.split('\n').filter((line) => {
    const text = line.trim().toLowerCase();
    // Empty lines divide paragraphs.
    return text === '' || head++ >= HEAD_LINES || !told.includes(text);
  });
  return lines.join('\n').trim() || named || paragraphsOf(evidence, element);
}

function paragraphsOf({ markup }: TypedEvidence, node: number | null): string {
  return node === null ? '' : elementLines(markup.tree, node, BODY_CHARS).join('\n\n');
}

function authorsIn({ markup }: TypedEvidence, around: number): string[] {
  const byRelation = markup
    .tagged('a', around)
    .filter((node) => /\bauthor\b/.test(markup.attribute(node, 'rel') ?? ''));
  const named = byRelation.length > 0 ? byRelation : markup.named(BYLINE, around).slice(0, 1);
  return named
    .map((node) => elementText(markup.tree, node, 100).replace(/^(?:by|von|par|por|di)\s+/i, ''))
    .filter((name) => name !== '' && name.length < 80);
}

function datedText({ markup }: TypedEvidence): string | null {
  const text = markup.textNamed(DATED, 80);
  return text === null || !/\d/.test(text)
    ? null
    : text.replace(/^(?:published|posted|updated)(?: on)?:?\s*/i, '');
}
