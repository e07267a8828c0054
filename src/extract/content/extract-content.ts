import type { PageTree } from '../tree/page-tree.ts';
import { buildTree } from '../tree/tree-builder.ts';
import { decideBlocks } from './decide/decide-blocks.ts';
import { keepNodes } from './decide/keep-nodes.ts';
import { type ContentFacts, contentFacts, wordsIn } from './facts/content-facts.ts';
import { countWords } from './features/blocks.ts';
import { gatherEvidence } from './features/evidence.ts';
import { pageFeatures } from './features/page-features.ts';
import type { PageSignals } from './features/page-signals.ts';
import { type ContentModel, model } from './model/model.ts';
import { PAGE_TYPES, type PageType, typeChances } from './model/page-type.ts';
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

export interface ContentOptions {
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
  const content = nodes === undefined ? (statedContent(signals, least) ?? found) : found;
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
