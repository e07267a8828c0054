import type { PageTree } from '../tree/page-tree.ts';
import { countWords } from './blocks.ts';
import { decideBlocks } from './decide-blocks.ts';
import { type ContentFacts, contentFacts, wordsIn } from './facts/content-facts.ts';
import { gatherEvidence } from './gather-evidence.ts';
import { keepNodes } from './keep-nodes.ts';
import { type ContentModel, model } from './model.ts';
import { PAGE_TYPES, type PageType } from './page-type.ts';
import { render } from './render-content.ts';
import { statedContent } from './stated-content.ts';

/** The part of a page that it exists for, without navigation, banners, related links and the like. */
export interface PageContent extends ContentFacts {
  /** Only elements that mean something; addresses absolute. */
  readonly html: string;
  readonly text: string;
  /** GitHub Flavored Markdown. */
  readonly markdown: string;
  /** What kind of page it looks like, and how sure that is (0 to 1). */
  readonly pageType: PageType;
  readonly pageTypeConfidence: number;
  /** The first sentences, or what the page says of itself; null without either. */
  readonly excerpt: string | null;
  readonly wordCount: number;
  readonly readingMinutes: number;
  /** The page was larger than what is looked at. */
  readonly isTruncated: boolean;
}

export interface ContentOptions {
  /** From the `Content-Language` header, where the page itself says nothing. */
  readonly contentLanguage?: string | null;
  /** Other weights than the shipped ones, to judge them. */
  readonly model?: ContentModel;
}

const WORDS_PER_MINUTE = 230;
const EXCERPT_CHARS = 300;
/** What the page states as its text counts when it has so much more words than what was found … */
const STATED_FACTOR = 3;
/** … and more than this share of all that is shown: else it could have been found. */
const STATED_SHARE = 0.7;

/** Finds the main content of a page: pure, linear in its size, bounded by the limits of the tree, without a way to fail. */
export function extractContent(tree: PageTree, url: string, options: ContentOptions = {}): PageContent {
  const { evidence, blocks } = gatherEvidence(tree, url);
  const { elements, shape, signals } = evidence;
  const { types, isKept } = decideBlocks(evidence, options.model ?? model());
  const kept = keepNodes(tree, blocks, isKept, elements, shape);
  const found = render(tree, kept, url);
  const least = Math.max(countWords(found.text) * STATED_FACTOR, (shape.words[0] as number) * STATED_SHARE);
  const content = statedContent(signals, least) ?? found;
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
