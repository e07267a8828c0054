import { TAG } from '../../html/names.ts';
import { ELEMENT_FLAG, ELEMENT_FLAG_NAMES } from './element-flags.ts';
import { type ContentEvidence, isProse } from './evidence.ts';
import { HINT_NAMES, TOPIC_NAMES } from './word-lists.ts';

const TYPES = {
  article: ['article', 'newsarticle', 'blogposting', 'techarticle', 'report', 'recipe', 'howto'],
  product: ['product', 'productgroup', 'offer', 'individualproduct'],
  forum: ['discussionforumposting', 'qapage', 'question', 'comment', 'answer'],
  list: ['itemlist', 'collectionpage', 'searchresultspage', 'offercatalog', 'listitem'],
  faq: ['faqpage'],
  business: ['localbusiness', 'service', 'professionalservice', 'organization', 'corporation'],
} as const;
const PATHS = {
  forum:
    /\/(?:forums?|threads?|topics?|t|questions?|viewtopic|showthread|discussions?|community|comments?|posts?)\b|viewtopic|showthread/,
  product: /\/(?:products?|p|item|dp|pd|produit|produkt|producto)\b|\.html?$/,
  list: /\/(?:categor(?:y|ies)|collections?|tags?|shop|c|search|browse|archive|topics?|news|blog|events?|jobs|listings?|directory)(?:\/[^/]*)?\/?$/,
  docs: /\/(?:docs?|documentation|manual|guide|reference|api|wiki|tutorials?|help|kb|learn|man)\b|readthedocs|\/en\/(?:latest|stable)/,
  blog: /\/(?:blog|news|article|articles|posts?|story|stories|\d{4}\/\d\d)\b/,
  service: /\/(?:services?|solutions?|about|features?|pricing|platform)\b/,
} as const;

export const PAGE_FEATURE_NAMES: readonly string[] = [
  'page:words',
  'page:blocks',
  'page:linkShare',
  'page:proseShare',
  'page:prose',
  'page:h1s',
  'page:headings',
  'page:articles',
  'page:paragraphs',
  'page:tables',
  'page:codes',
  'page:prices',
  'page:unitShare',
  'page:holderShare',
  ...Object.keys(TYPES).map((name) => `page:is:${name}`),
  'page:og',
  ...Object.keys(PATHS).map((name) => `page:path:${name}`),
  'page:pathDepth',
  'page:slugWords',
  ...ELEMENT_FLAG_NAMES.map((name) => `page:mark:${name}`),
  ...HINT_NAMES.map((name) => `page:hint:${name}`),
  ...TOPIC_NAMES.map((name) => `page:topic:${name}`),
  'page:smallShare',
  'page:years',
  'page:unitWords',
  'page:unitCount',
  'page:units',
];
export const PAGE_FEATURES = PAGE_FEATURE_NAMES.length;

const YEAR = /\b(?:19|20)\d\d\b/;
const PRICE = /[$€£¥₹]\s?\d|\d\s?(?:€|zł|kr)/;
const OG_TYPES: Readonly<Record<string, number>> = {
  article: 1,
  product: 2,
  'og:product': 2,
  website: 3,
  'product.group': 4,
};

/** One row of features of the whole page, for its type. */
export function pageFeatures({ tree, url, blocks, elements, shape, signals }: ContentEvidence): Float32Array {
  let headings = 0;
  let h1s = 0;
  let articles = 0;
  let paragraphs = 0;
  let tables = 0;
  let codes = 0;
  for (let node = 1; node < tree.count; node++) {
    const tag = tree.tags[node] as number;
    const flag = elements.flags[node] as number;
    if (tag === TAG.h1) h1s++;
    if ((flag & ELEMENT_FLAG.heading) !== 0) headings++;
    if ((flag & ELEMENT_FLAG.article) !== 0) articles++;
    if ((flag & ELEMENT_FLAG.table) !== 0) tables++;
    if (tag === TAG.pre) codes++;
    if (tag === TAG.p) paragraphs++;
  }
  let prose = 0;
  let prices = 0;
  let unitWords = 0;
  for (const block of blocks) {
    if (isProse(block)) prose++;
    if (block.words < 12 && block.digits > 0 && PRICE.test(block.text)) prices++;
    if ((shape.innerUnit[block.container] as number) !== 0) unitWords += block.words;
  }
  const words = Math.max(1, shape.words[0] as number);
  const types = new Set(signals.objects.flatMap((object) => object.types));
  const path = pathOf(url);
  const slug = path.split('/').findLast((part) => part !== '') ?? '';
  return Float32Array.from([
    Math.log1p(words),
    Math.log1p(blocks.length),
    (shape.linkWords[0] as number) / words,
    (shape.proseWords[0] as number) / words,
    Math.log1p(prose),
    Math.min(h1s, 5),
    Math.log1p(headings),
    Math.log1p(articles),
    Math.log1p(paragraphs),
    Math.log1p(tables),
    Math.log1p(codes),
    Math.log1p(prices),
    unitWords / words,
    (shape.words[shape.holder] as number) / words,
    ...Object.values(TYPES).map((names) => (names.some((name) => types.has(name)) ? 1 : 0)),
    OG_TYPES[signals.meta.get('og:type')?.toLowerCase() ?? ''] ?? 0,
    ...Object.values(PATHS).map((pattern) => (pattern.test(path) ? 1 : 0)),
    path.split('/').filter((part) => part !== '').length,
    slug.split(/[-_]/).length,
    ...shares({ tree, url, blocks, elements, shape, signals }),
  ]);
}

/** The share of words of the page with each flag, hint and topic. */
function shares({ blocks, shape }: ContentEvidence): number[] {
  const flags = new Float64Array(ELEMENT_FLAG_NAMES.length);
  const hints = new Float64Array(HINT_NAMES.length);
  const topics = new Float64Array(TOPIC_NAMES.length);
  let words = 1;
  let looked = 1;
  let small = 0;
  let years = 0;
  let unitWords = 0;
  const units = new Set<number>();
  let mostAlike = 0;
  for (const block of blocks) {
    const at = block.container;
    words += block.words;
    looked += block.looked;
    small += block.smallWords;
    if (block.words < 15 && YEAR.test(block.text)) years++;
    addBits(flags, shape.flagsAround[at] as number, block.words);
    addBits(hints, shape.hintsAround[at] as number, block.words);
    for (let topic = 0; topic < topics.length; topic++) {
      topics[topic] = (topics[topic] as number) + (block.topics[topic] as number);
    }
    const unit = shape.outerUnit[at] as number;
    if (unit === 0) continue;
    unitWords += block.words;
    units.add(unit);
    mostAlike = Math.max(mostAlike, shape.alike[unit] as number);
  }
  const perWord = (sums: Float64Array, all: number): number[] => Array.from(sums, (sum) => sum / all);
  return [
    ...perWord(flags, words),
    ...perWord(hints, words),
    ...perWord(topics, looked),
    small / looked,
    Math.log1p(years),
    unitWords / Math.max(1, units.size),
    Math.log1p(mostAlike),
    Math.log1p(units.size),
  ];
}

function addBits(sums: Float64Array, mask: number, words: number): void {
  let rest = mask;
  while (rest !== 0) {
    const bit = 31 - Math.clz32(rest);
    sums[bit] = (sums[bit] as number) + words;
    rest &= ~(1 << bit);
  }
}

function pathOf(url: string): string {
  const parsed = URL.parse(url);
  return parsed === null ? '' : (parsed.pathname + parsed.search).slice(0, 300).toLowerCase();
}
