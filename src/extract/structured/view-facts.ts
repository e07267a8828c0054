import { LIMITS } from '../html/limits.ts';
import { hashName } from '../html/name-table.ts';
import { TAG } from '../html/tag.ts';
import { collapse, decodeEntities } from '../html/white-space.ts';
import { addresses, type DataItem, type ItemSource, itemsOfType, label, labels, textValue } from './item.ts';
import { absoluteUrl } from './markup-index.ts';
import type { StructuredParts } from './structured-view.ts';

export type FactSource = ItemSource | 'open-graph' | 'twitter' | 'dublin-core' | 'meta' | 'link' | 'markup';
export const FACT_NAMES = [
  'title',
  'description',
  'url',
  'image',
  'siteName',
  'type',
  'language',
  'author',
  'publishedAt',
  'modifiedAt',
  'keywords',
] as const;

export interface PageFact {
  readonly name: (typeof FACT_NAMES)[number];
  /** As written, with entities decoded; addresses absolute. */
  readonly value: string;
  /** Every source with this value, the most trusted first. */
  readonly from: readonly FactSource[];
}

type Said = readonly [FactSource, string | null | undefined];

const LANG = hashName('lang');
/** Types of schema.org that are the page or what the page is about. */
const MAIN = /(?:Article|Posting|Page|Product|Recipe|Event|Report)$/;

/** Facts about the page; the most trusted source gives the value. */
export function readPageFacts(
  parts: Pick<StructuredParts, 'roots' | 'head' | 'marks'>,
): Record<PageFact['name'], Omit<PageFact, 'name'> | null> {
  const { roots, head, marks } = parts;
  const main = mainItem(roots);
  const source = main?.source ?? 'json-ld';
  const og = (name: string): Said => ['open-graph', head.openGraph.get(name)?.[0]];
  const twitter = (name: string): Said => ['twitter', head.twitter.get(name)];
  const dublin = (name: string): Said => ['dublin-core', head.dublinCore.get(name)?.[0]];
  const meta = (name: string): Said => ['meta', head.named.get(name)];
  const address = ([from, value]: Said): Said => [from, value ? absoluteUrl(marks.base, value) : null];
  const [site] = itemsOfType(roots, (type) => type === 'WebSite');
  return {
    title: fact([
      [source, textValue(main, 'headline', 'name')],
      og('title'),
      twitter('title'),
      dublin('title'),
      ['markup', head.title],
    ]),
    description: fact([
      [source, textValue(main, 'description')],
      og('description'),
      meta('description'),
      twitter('description'),
      dublin('description'),
    ]),
    url: fact([['link', head.links.canonical], address(og('url')), [source, textValue(main, 'url')]]),
    image: fact([
      [source, addresses(main, 'image', 'thumbnailUrl')[0]],
      address(og('image')),
      address(og('image:url')),
      address(twitter('image')),
    ]),
    siteName: fact([
      [site?.source ?? 'json-ld', textValue(site, 'name')],
      og('site_name'),
      meta('application-name'),
      dublin('publisher'),
    ]),
    type: fact([[source, main?.types[0]], og('type'), dublin('type')]),
    language: fact([
      ['markup', pageLanguage(parts)],
      [source, textValue(main, 'inLanguage')],
      og('locale'),
      dublin('language'),
      meta('language'),
    ]),
    author: fact([
      [source, label(main, 'author')],
      meta('author'),
      og('article:author'),
      dublin('creator'),
      twitter('creator'),
    ]),
    publishedAt: fact([
      [source, textValue(main, 'datePublished', 'datePosted', 'dateCreated')],
      og('article:published_time'),
      dublin('date'),
      dublin('issued'),
      meta('date'),
    ]),
    modifiedAt: fact([
      [source, textValue(main, 'dateModified')],
      og('article:modified_time'),
      og('updated_time'),
      dublin('modified'),
      meta('last-modified'),
    ]),
    keywords: fact([
      [source, labels(main, 'keywords').join(', ') || null],
      meta('keywords'),
      meta('news_keywords'),
      ['open-graph', head.openGraph.get('article:tag')?.join(', ')],
      dublin('subject'),
    ]),
  };
}

/** The item the page is about: the main entity of its `WebPage`, else the first item of a fitting type. */
export function mainItem(roots: readonly DataItem[]): DataItem | null {
  const found = itemsOfType(roots, (type) => MAIN.test(type));
  return found.find(({ types }) => !types.some((type) => type.endsWith('Page'))) ?? found[0] ?? null;
}

function pageLanguage({ marks: { tree } }: Pick<StructuredParts, 'marks'>): string | null {
  for (let node = 1; node < tree.count && node < 20; node++) {
    if (tree.tags[node] === TAG.html) return tree.attribute(node, LANG);
  }
  return null;
}

function fact(said: readonly Said[]): Omit<PageFact, 'name'> | null {
  const known = said.flatMap(([from, value]) => {
    const text = value ? collapse(decodeEntities(value), LIMITS.metaChars) : '';
    return text === '' ? [] : [{ from, text }];
  });
  const [first] = known;
  if (first === undefined) return null;
  const agreeing = known.filter(({ text }) => text.toLowerCase() === first.text.toLowerCase());
  return { value: first.text, from: [...new Set(agreeing.map(({ from }) => from))] };
}
