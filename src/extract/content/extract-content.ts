import { hashName, TAG } from '../html/names.ts';
import type { PageTree } from '../tree/page-tree.ts';
import { buildTree } from '../tree/tree-builder.ts';
import { decideBlocks } from './decide/decide-blocks.ts';
import { keepMainRegion } from './decide/main-region.ts';
import { type ContentFacts, contentFacts, wordsIn } from './facts/content-facts.ts';
import { type Block, type Blocks, countWords } from './features/blocks.ts';
import type { ElementFlags } from './features/element-flags.ts';
import { gatherEvidence, type PageShape, type PageSignals } from './features/evidence.ts';
import { pageFeatures } from './features/page-features.ts';
import { HINT_BITS } from './features/word-lists.ts';
import { type ContentModel, model, PAGE_TYPES, type PageType, typeChances } from './model/model.ts';
import { type RenderedContent, renderContent } from './render/render-content.ts';

/** The main content of a page, without navigation, banners, related links and the like. */
export interface PageContent extends ContentFacts {
  /** Only semantic elements; URLs are absolute. */
  readonly html: string;
  readonly text: string;
  /** The content in GitHub Flavored Markdown. */
  readonly markdown: string;
  /** The likeliest page type, and its probability (0 to 1). */
  readonly pageType: PageType;
  readonly pageTypeConfidence: number;
  /** The first sentences, or the description of the page; null without either. */
  readonly excerpt: string | null;
  readonly wordCount: number;
  readonly readingMinutes: number;
  /** True when the tree was truncated. */
  readonly isTruncated: boolean;
}

interface ContentOptions {
  /** From the `Content-Language` header, where the page itself says nothing. */
  readonly contentLanguage?: string | null;
  /** By node: 1 for those that are content, ancestors included. With it, nothing is decided: the content is known. */
  readonly nodes?: Uint8Array;
  /** Other weights than the shipped ones, for evaluation. */
  readonly model?: ContentModel;
}

const WORDS_PER_MINUTE = 230;
const EXCERPT_CHARS = 300;
/** Text in structured data is used when it has this many times the words of the content found … */
const STATED_FACTOR = 3;
/** … and more than this share of all visible words. */
const STATED_SHARE = 0.7;

/** An image belongs to the content when most of the words around it do. */
const IMAGE_SHARE = 0.6;
const IMAGE_WORDS = 15;
const TINY_PIXELS = 40;
const WIDTH = hashName('width');
const HEIGHT = hashName('height');
const NOT_CONTENT = HINT_BITS.share | HINT_BITS.promo | HINT_BITS.user | HINT_BITS.nav | HINT_BITS.related;

/** Finds the main content of a page: pure, linear in its size, bounded by the limits of the tree, never throws. */
export function extractContent(tree: PageTree, url: string, options: ContentOptions = {}): PageContent {
  const { evidence, blocks } = gatherEvidence(tree, url);
  const { elements, shape, signals } = evidence;
  const { nodes, model: weights = model() } = options;
  const decide = () => {
    const { types, isKept } = decideBlocks(evidence, weights);
    return { types, kept: keepNodes(tree, blocks, isKept, elements, shape) };
  };
  const { types, kept } =
    nodes === undefined
      ? decide()
      : { types: typeChances(weights.types, pageFeatures(evidence)), kept: nodes };
  const found = renderContent(tree, kept, url);
  const least = Math.max(countWords(found.text) * STATED_FACTOR, (shape.words[0] as number) * STATED_SHARE);
  const chosen = nodes === undefined ? (statedContent(signals, least) ?? found) : found;
  const fallback = () =>
    renderContent(tree, keepNodes(tree, blocks, keepMainRegion(evidence), elements, shape), url);
  const content = nodes === undefined && chosen.text === '' ? fallback() : chosen;
  const likeliest = types.indexOf(Math.max(...types));
  const pageType = PAGE_TYPES[likeliest] ?? 'article';
  const facts = contentFacts(evidence, pageType, options.contentLanguage ?? null);
  const wordCount = wordsIn(content.text);
  return {
    ...facts,
    html: content.html,
    text: content.text,
    markdown: content.markdown,
    pageType,
    pageTypeConfidence: Math.round((types[likeliest] ?? 0) * 100) / 100,
    excerpt: excerptOf(content.text) ?? facts.description,
    wordCount,
    readingMinutes: wordCount === 0 ? 0 : Math.max(1, Math.round(wordCount / WORDS_PER_MINUTE)),
    isTruncated: tree.isTruncated,
  };
}

/** The first paragraph that is more than a line, cut at a word. */
function excerptOf(text: string): string | null {
  const paragraph = text.split('\n\n', 20).find((part) => part.length >= 80);
  if (paragraph === undefined) return null;
  const line = paragraph.replace(/\s+/g, ' ').trim();
  if (line.length <= EXCERPT_CHARS) return line;
  const end = line.lastIndexOf(' ', EXCERPT_CHARS);
  return `${line.slice(0, end > 0 ? end : EXCERPT_CHARS).trimEnd()}…`;
}

const KEYS = ['articleBody', 'text', 'recipeInstructions'] as const;
/** Comments, answers and reviews count as text only in threads. */
const THREADS = new Set(['discussionforumposting', 'question']);
const OTHERS = new Set(['comment', 'answer', 'review']);
const LEAST_WORDS = 5;
const MOST_CHARS = 200_000;

/**
 * The text in structured data, for pages whose text is rendered by scripts. Null when it has no more than `leastWords`
 * words. Descriptions do not count: they are about the page.
 */
function statedContent({ objects }: PageSignals, leastWords: number): RenderedContent | null {
  const isThread = objects.some(({ types }) => types.some((type) => THREADS.has(type)));
  const own = objects.filter(({ types }) => isThread || !types.some((type) => OTHERS.has(type)));
  const parts = new Set<string>();
  let chars = 0;
  for (const key of KEYS) {
    for (const { value } of own) {
      const text = value[key];
      if (typeof text !== 'string' || parts.has(text) || chars + text.length > MOST_CHARS) continue;
      parts.add(text);
      chars += text.length;
    }
    if (parts.size > 0) break;
  }
  const source = [...parts].map(asHtml).join('\n');
  if (countWords(source) <= Math.max(LEAST_WORDS, leastWords)) return null;
  const tree = buildTree(source);
  return renderContent(tree, new Uint8Array(tree.count).fill(1), 'about:blank');
}

const MARKUP = /<(?:p|br|div|ul|ol|li|h[1-6]|a|b|strong|em|span)\b/i;

function asHtml(text: string): string {
  if (MARKUP.test(text)) return `<div>${text}</div>`;
  const lines = text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .split(/\n\s*\n/);
  return lines.map((line) => `<p>${line.replaceAll('\n', '<br>')}</p>`).join('');
}

/** The nodes to keep for the kept blocks: their texts, the elements around them, images and rules between them. */
export function keepNodes(
  tree: PageTree,
  { list, ofNode }: Blocks,
  isKept: Uint8Array,
  { hints }: ElementFlags,
  shape: PageShape,
): Uint8Array {
  const kept = new Uint8Array(tree.count);
  const keptWords = new Float64Array(tree.count);
  for (let i = 0; i < list.length; i++) {
    const { container, words } = list[i] as Block;
    if (isKept[i] === 1) keptWords[container] = (keptWords[container] as number) + words;
  }
  for (let node = tree.count - 1; node > 0; node--) {
    const parent = tree.parents[node] as number;
    keptWords[parent] = (keptWords[parent] as number) + (keptWords[node] as number);
  }
  for (let node = 1; node < tree.count; node++) {
    const block = ofNode[node] as number;
    if (block >= 0 && isKept[block] === 1) kept[node] = 1;
    else if (isInline(tree, node))
      kept[node] = isAmongKept(tree, node, keptWords, shape.words, hints) ? 1 : 0;
  }
  keepAround(tree, kept);
  keepSmall(tree, kept);
  return kept;
}

function isInline(tree: PageTree, node: number): boolean {
  const tag = tree.tags[node] as number;
  return tag === TAG.img || tag === TAG.image;
}

function isAmongKept(
  tree: PageTree,
  node: number,
  keptWords: Float64Array,
  words: Float64Array,
  hints: Int32Array,
): boolean {
  if (isTiny(tree, node)) return false;
  if (((hints[node] as number) & NOT_CONTENT) !== 0) return false;
  let around = tree.parents[node] as number;
  while (around > 0 && (words[around] as number) < IMAGE_WORDS) around = tree.parents[around] as number;
  return (keptWords[around] as number) >= Math.max(1, (words[around] as number) * IMAGE_SHARE);
}

/** True for icons, avatars and tracking pixels. */
function isTiny(tree: PageTree, node: number): boolean {
  for (const name of [WIDTH, HEIGHT]) {
    const size = Number.parseInt(tree.attribute(node, name) ?? '', 10);
    if (size <= TINY_PIXELS) return true;
  }
  return false;
}

/** Keeps all ancestors of kept nodes. */
function keepAround(tree: PageTree, kept: Uint8Array): void {
  for (let node = tree.count - 1; node > 0; node--) {
    if (kept[node] === 1) kept[tree.parents[node] as number] = 1;
  }
}

/** Keeps line breaks, rules, checkboxes and spaces next to kept nodes. */
function keepSmall(tree: PageTree, kept: Uint8Array): void {
  for (let node = 1; node < tree.count; node++) {
    if (kept[node] === 1 || kept[tree.parents[node] as number] !== 1) continue;
    const tag = tree.tags[node] as number;
    if (tag === TAG.br || tag === TAG.hr || tag === TAG.input) kept[node] = 1;
    else if ((tag === TAG.td || tag === TAG.th) && kept[tree.parents[node] as number] === 1) kept[node] = 1;
    else if (tree.isText(node) && tree.text(node).trim() === '') kept[node] = 1;
  }
}
