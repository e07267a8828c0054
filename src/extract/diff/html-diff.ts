import { escapeText } from 'entities/escape';
import { baseOf } from '../content/render/content-nodes.ts';
import { markupOf } from '../full/page-parts.ts';
import { HIDDEN, TAG, TAG_FLAGS, VOID } from '../html/names.ts';
import { HtmlScanner } from '../html/scanner.ts';
import { Budget } from '../rules/budget.ts';
import { cleanHtml } from '../scan/clean-html.ts';
import { type PageTree, RAW_TEXT } from '../tree/page-tree.ts';
import { buildTree } from '../tree/tree-builder.ts';
import { withoutMatches } from './compare-pages.ts';
import { type CompiledDiffRules, nodesLeft } from './diff-rules.ts';
import { diffTokens, StepBudget } from './text-diff.ts';

interface HtmlChange {
  readonly kind: 'added' | 'removed' | 'changed';
  /** The elements around the change, from the outside in: `main > ul > li`. */
  readonly path: string;
  readonly before: string | null;
  readonly after: string | null;
}

export interface HtmlDiff {
  /** What changed; empty when nothing did. */
  readonly changes: readonly HtmlChange[];
  /**
   * The later document with removed text in `del` and added text in `ins`. Only plain elements and the attributes `href`,
   * `src`, `alt`, `colspan` and `rowspan`, with http and https addresses: it may be shown inside another page.
   */
  readonly html: string;
  readonly isCoarse: boolean;
  readonly isTruncated: boolean;
}

const STEPS = 4_000_000;
const MOST_TOKENS = 400_000;
const MOST_CHANGES = 1_000;
const MOST_HTML_CHARS = 2_000_000;
const MOST_CHANGE_CHARS = 2_000;
const WORDS = /[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu;

/** Elements that are written; of all others, only their content is. */
const KEPT: ReadonlySet<string> = new Set(
  (
    'a abbr article aside b blockquote br caption cite code dd div dl dt em figcaption figure footer h1 h2 h3 h4 h5 h6 header hr ' +
    'i img kbd li main mark nav ol p pre q s samp section small span strong sub sup table tbody td tfoot th thead time tr u ul var'
  ).split(' '),
);
/** Elements that hold one text at most: no text of a neighbour may be drawn into them. */
const IN_TEXT: ReadonlySet<string> = new Set(
  'a abbr b cite code em i kbd mark q s samp small span strong sub sup time u var'.split(' '),
);

interface HtmlDiffOptions {
  /** Comparisons of tags and words that the diff may cost. */
  readonly steps?: number;
  /** Removes what is ignored from each text between two tags. */
  readonly clean?: (text: string) => string;
}

/** A tag or a word of a document. */
interface Token {
  readonly key: string;
  readonly html: string;
  readonly kind: 'open' | 'close' | 'void' | 'text';
  readonly name: string;
}

/** What changed in the elements and the text of two documents, without scripts, styles, comments and hidden elements. */
export function diffHtml(a: string, b: string, options: HtmlDiffOptions = {}): HtmlDiff {
  const { steps = STEPS, clean = (text) => text } = options;
  const [before, after] = [tokensOf(buildTree(a), clean), tokensOf(buildTree(b), clean)];
  const diff = diffTokens(before.tokens.map(keyOf), after.tokens.map(keyOf), new StepBudget(steps));
  const writer = new DiffWriter();
  let [inA, inB] = [0, 0];
  for (const { kind, count } of diff.runs) {
    if (kind === 'removed') writer.remove(before.tokens.slice(inA, inA + count));
    else if (kind === 'added') writer.add(after.tokens.slice(inB, inB + count));
    else writer.keep(after.tokens.slice(inB, inB + count));
    if (kind !== 'added') inA += count;
    if (kind !== 'removed') inB += count;
  }
  const { html, changes, isTruncated } = writer.finish();
  return {
    changes,
    html,
    isCoarse: diff.isCoarse,
    isTruncated: isTruncated || before.isTruncated || after.isTruncated,
  };
}

const keyOf = ({ key }: Token): string => key;

function tokensOf(
  tree: PageTree,
  clean: (text: string) => string,
): { tokens: Token[]; isTruncated: boolean } {
  const { tags, ends } = tree;
  const tokens: Token[] = [];
  const open: { readonly name: string; readonly end: number }[] = [];
  const closeUpTo = (node: number): void => {
    while (open.length > 0 && (open.at(-1)?.end ?? 0) <= node) {
      const name = open.pop()?.name ?? '';
      tokens.push({ key: `</${name}>`, html: `</${name}>`, kind: 'close', name });
    }
  };
  let at = 1;
  for (; at < tree.count && tokens.length < MOST_TOKENS; at += 1) {
    closeUpTo(at);
    const tag = tags[at] as number;
    if (tag >= RAW_TEXT) {
      for (const word of clean(tree.text(at)).match(WORDS) ?? []) tokens.push(textToken(word));
      continue;
    }
    const isHidden = ((TAG_FLAGS[tag] as number) & HIDDEN) !== 0 || tag === TAG.head || tag === TAG.svg;
    if (isHidden) {
      at = (ends[at] as number) - 1;
      continue;
    }
    const name = tree.name(at);
    if (!KEPT.has(name)) continue;
    const isVoid = ((TAG_FLAGS[tag] as number) & VOID) !== 0;
    const html = `<${name}${attributesOf(tree, at, name)}>`;
    tokens.push({ key: html, html, kind: isVoid ? 'void' : 'open', name });
    if (!isVoid) open.push({ name, end: ends[at] as number });
  }
  const isTruncated = at < tree.count;
  closeUpTo(Number.POSITIVE_INFINITY);
  return { tokens: withoutSpareSpaces(tokens), isTruncated };
}

const isSpace = ({ key }: Token): boolean => key === ' ';

/** One space between words, and none before or behind a tag that begins or ends a block. */
function withoutSpareSpaces(tokens: readonly Token[]): Token[] {
  return tokens.filter((token, at) => {
    if (!isSpace(token)) return true;
    const [last, next] = [tokens[at - 1], tokens[at + 1]];
    const isEdge = (each: Token | undefined): boolean =>
      each === undefined || (each.kind !== 'text' && !IN_TEXT.has(each.name));
    return !isEdge(last) && !isEdge(next) && last !== undefined && !isSpace(last);
  });
}

function textToken(word: string): Token {
  const text = /^\s/.test(word) ? ' ' : word;
  return { key: text, html: escapeText(text), kind: 'text', name: '' };
}

function attributesOf(tree: PageTree, node: number, name: string): string {
  const wanted =
    name === 'a' ? ['href'] : name === 'img' ? ['src', 'alt'] : /^t[dh]$/.test(name) ? SPANS : [];
  if (wanted.length === 0) return '';
  const given = tree.attributes(node);
  return wanted
    .map((attribute) => {
      const value = given.get(attribute);
      if (value === undefined) return '';
      if ((attribute === 'href' || attribute === 'src') && !/^https?:\/\//i.test(value.trim())) return '';
      if (SPANS.includes(attribute) && !/^\d{1,3}$/.test(value.trim())) return '';
      return ` ${attribute}="${escapeText(value.trim()).replaceAll('"', '&quot;')}"`;
    })
    .join('');
}

const SPANS: readonly string[] = ['colspan', 'rowspan'];

/** Writes the later document; `ins` and `del` never go over the border of an element. */
class DiffWriter {
  readonly #pieces: string[] = [];
  readonly #path: string[] = [];
  readonly #changes: HtmlChange[] = [];
  #removed: string[] = [];
  #added: string[] = [];
  #chars = 0;
  #isTruncated = false;

  keep(tokens: readonly Token[]): void {
    this.#endChange();
    for (const token of tokens) {
      this.#write(token.html);
      this.#step(token);
    }
  }

  remove(tokens: readonly Token[]): void {
    for (const token of tokens) this.#removed.push(token.html);
    this.#mark('del', tokens, false);
  }

  add(tokens: readonly Token[]): void {
    for (const token of tokens) this.#added.push(token.html);
    this.#mark('ins', tokens, true);
  }

  finish(): { html: string; changes: readonly HtmlChange[]; isTruncated: boolean } {
    this.#endChange();
    while (this.#path.length > 0) this.#pieces.push(`</${this.#path.pop()}>`);
    return { html: this.#pieces.join(''), changes: this.#changes, isTruncated: this.#isTruncated };
  }

  /** Texts between tags are marked; the tags of the later document are written, those of the earlier one are not. */
  #mark(mark: 'ins' | 'del', tokens: readonly Token[], hasTags: boolean): void {
    let text = '';
    const endText = (): void => {
      if (text.trim() !== '') this.#write(`<${mark}>${text}</${mark}>`);
      else if (text !== '' && hasTags) this.#write(text);
      text = '';
    };
    for (const token of tokens) {
      if (token.kind === 'text' || (token.kind === 'void' && token.name === 'img')) {
        text += token.html;
        continue;
      }
      endText();
      if (!hasTags) continue;
      this.#write(token.html);
      this.#step(token);
    }
    endText();
  }

  #step({ kind, name }: Token): void {
    if (kind === 'open') this.#path.push(name);
    else if (kind === 'close') this.#path.pop();
  }

  #endChange(): void {
    const [before, after] = [this.#removed.join(''), this.#added.join('')];
    [this.#removed, this.#added] = [[], []];
    if (before === '' && after === '') return;
    if (this.#changes.length >= MOST_CHANGES) {
      this.#isTruncated = true;
      return;
    }
    this.#changes.push({
      kind: before === '' ? 'added' : after === '' ? 'removed' : 'changed',
      path: this.#path.join(' > '),
      before: before === '' ? null : before.slice(0, MOST_CHANGE_CHARS),
      after: after === '' ? null : after.slice(0, MOST_CHANGE_CHARS),
    });
  }

  /** Beyond the limit only tags are written, so that all elements have an end. */
  #write(html: string): void {
    this.#chars += html.length;
    if (this.#chars <= MOST_HTML_CHARS || /^<\/?(?!ins|del)\w[^>]*>$/.test(html)) this.#pieces.push(html);
    else this.#isTruncated = true;
  }
}

const scanner = new HtmlScanner();

export interface HtmlDocument {
  /** What relative addresses are relative to, unless the document says otherwise. */
  readonly url: string;
  readonly html: string;
}

/** What changed in two documents, without what the rules ignore; addresses are absolute. Throws EXTRACTION_FAILED as `watchPage`. */
export function diffDocuments(
  a: HtmlDocument,
  b: HtmlDocument,
  { ignore }: CompiledDiffRules,
  now: () => number,
): HtmlDiff {
  const budget = new Budget({ now });
  const prepared = ({ url, html }: HtmlDocument): string => {
    const tree = buildTree(html);
    const left = nodesLeft(tree, ignore.selectors, budget);
    return cleanHtml(scanner, left === null ? html : markupOf(tree, left), baseOf(tree, url)).html;
  };
  const clean = (text: string): string => withoutMatches(text, ignore.patterns, budget);
  return diffHtml(prepared(a), prepared(b), { clean });
}
