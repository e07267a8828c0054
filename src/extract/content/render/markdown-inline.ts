import { urlPart } from '../../../lib/url-part.ts';
import { KIND, type NodeKind } from './content-nodes.ts';

/** A token of running text. Open and close tokens nest, and markup never includes white space at its edges. */
export type InlineToken =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'break' }
  | { readonly type: 'image'; readonly url: string; readonly alt: string }
  | { readonly type: 'open' | 'close'; readonly kind: NodeKind; readonly url: string };

const SPACES = /[\s\u200b]+/g;
const UNEVEN = /[^\S ]| {2}|\u200b/;
/** Deeper nesting of bold, italic and the like adds nothing. */
const MOST_OPEN = 8;

interface OpenInline {
  readonly kind: NodeKind;
  readonly url: string;
  /** True once its open token is part of this run. */
  isWritten: boolean;
  /** A repeated or useless element: only its end is tracked. */
  readonly isMute: boolean;
}

/** Collects running text between two block boundaries. */
export class InlineRun {
  #tokens: InlineToken[] = [];
  readonly #open: OpenInline[] = [];
  #hasSpace = false;
  #hasWords = false;

  /** True when text or an image has arrived since the last `take`. */
  get hasContent(): boolean {
    return this.#tokens.length > 0;
  }

  text(text: string): void {
    const even = UNEVEN.test(text) ? text.replace(SPACES, ' ') : text;
    if (even.startsWith(' ')) this.#hasSpace = true;
    const bare = even.trim();
    if (bare === '') return;
    this.#begin();
    this.#tokens.push({ type: 'text', text: bare });
    this.#hasWords = true;
    this.#hasSpace = even.endsWith(' ');
  }

  space(): void {
    this.#hasSpace = true;
  }

  break(): void {
    this.#hasSpace = false;
    if (this.#tokens.length > 0) this.#tokens.push({ type: 'break' });
  }

  image(url: string, alt: string): void {
    this.#begin();
    this.#tokens.push({ type: 'image', url, alt });
  }

  open(kind: NodeKind, url = ''): void {
    const isMute =
      this.#open.length >= MOST_OPEN ||
      (kind === KIND.link && url === '') ||
      this.#open.some((other) => !other.isMute && (other.kind === kind || other.kind === KIND.snippet));
    this.#open.push({ kind, url, isWritten: false, isMute });
  }

  close(kind: NodeKind): void {
    let at = this.#open.length - 1;
    while (at >= 0 && this.#open[at]?.kind !== kind) at--;
    if (at < 0) return;
    // Elements opened inside end with it.
    for (let inner = this.#open.length - 1; inner >= at; inner--) this.#end(this.#open[inner] as OpenInline);
    this.#open.length = at;
  }

  /** Returns the run so far. Open elements are closed here and reopened with the next text, except links that had text. */
  take(): InlineToken[] {
    for (let at = this.#open.length - 1; at >= 0; at--) this.#end(this.#open[at] as OpenInline);
    const tokens = this.#tokens;
    while (tokens.at(-1)?.type === 'break') tokens.pop();
    if (this.#hasWords) {
      for (const [at, open] of this.#open.entries()) {
        if (open.kind === KIND.link && !open.isMute) this.#open[at] = { ...open, isMute: true };
      }
    }
    this.#tokens = [];
    this.#hasSpace = false;
    this.#hasWords = false;
    return tokens;
  }

  #end(open: OpenInline): void {
    if (!open.isWritten) return;
    open.isWritten = false;
    const tokens = this.#tokens;
    const breaks: InlineToken[] = [];
    while (tokens.at(-1)?.type === 'break') breaks.push(tokens.pop() as InlineToken);
    tokens.push({ type: 'close', kind: open.kind, url: open.url }, ...breaks);
  }

  #begin(): void {
    if (this.#hasSpace && this.#tokens.length > 0 && this.#tokens.at(-1)?.type !== 'break') {
      this.#tokens.push({ type: 'text', text: ' ' });
    }
    this.#hasSpace = false;
    for (const open of this.#open) {
      if (open.isMute || open.isWritten) continue;
      open.isWritten = true;
      this.#tokens.push({ type: 'open', kind: open.kind, url: open.url });
    }
  }
}

/** The words of a run without its mark-up. */
export function plainText(tokens: readonly InlineToken[], lineBreak: string): string {
  let text = '';
  for (const token of tokens) {
    if (token.type === 'text') text += token.text;
    else if (token.type === 'break') text += lineBreak;
  }
  return text;
}

interface InlineContext {
  /** Headings have no strong text and no line breaks. */
  readonly isHeading: boolean;
  /** Cells escape `|`, which would end the cell. */
  readonly isCell: boolean;
}

const MARKERS: Readonly<Partial<Record<NodeKind, string>>> = {
  [KIND.strong]: '**',
  [KIND.emphasis]: '*',
  [KIND.strike]: '~~',
};
const BACKTICKS = /`+/g;
const SPECIAL =
  /[\\`*[\]]|_(?![\p{L}\p{N}])|(?<![\p{L}\p{N}])_|<(?=[a-zA-Z/!?])|~~|&(?=#?\w{1,31};)|!(?=\[)/gu;
const LINE_START = /^(?:([#>])|([-+=])(?=\s|$|[-=])|(\d{1,9})([.)])(?=\s|$)|(\|))/;
const UNSAFE_IN_URL = /[\s<>()\\]/g;

/** Running text as Markdown. Characters that would be markup are escaped. */
export function markdownInline(run: readonly InlineToken[], place: InlineContext): string {
  // Pieces, because reading the end of a growing string flattens it every time.
  const out: string[] = [];
  /** Closing markup of the open elements, innermost last; empty for markup that is left out. */
  const ends: string[] = [];
  let code: string | null = null;
  let isLineStart = true;
  const put = (piece: string): void => {
    if (piece === '') return;
    out.push(piece);
    isLineStart = false;
  };
  for (const token of run) {
    if (token.type === 'text') {
      if (code !== null) code += token.text;
      else put(escapeMarkdown(token.text, isLineStart, place.isCell));
    } else if (token.type === 'break') {
      if (code !== null) code += ' ';
      else {
        if (out.at(-1) === ' ') out.pop();
        put(place.isHeading || place.isCell ? ' ' : '  \n');
        isLineStart = !place.isHeading && !place.isCell;
      }
    } else if (token.type === 'image') {
      if (code === null) put(`![${escapeMarkdown(token.alt, false, place.isCell)}](${urlOf(token.url)})`);
    } else if (token.type === 'open') {
      if (token.kind === KIND.snippet) code = '';
      else if (token.kind === KIND.link) {
        put('[');
        ends.push(`](${urlOf(token.url)})`);
      } else {
        const marker = place.isHeading && token.kind === KIND.strong ? '' : (MARKERS[token.kind] ?? '');
        put(marker);
        ends.push(marker);
      }
    } else if (token.kind === KIND.snippet) {
      put(codeSpan(code ?? '', place.isCell));
      code = null;
    } else put(ends.pop() ?? '');
  }
  return out.join('').trim();
}

export function escapeMarkdown(text: string, isLineStart: boolean, isCell: boolean): string {
  let escaped = text.replace(SPECIAL, '\\$&');
  if (isCell) escaped = escaped.replace(/\|/g, '\\|');
  if (isLineStart) {
    escaped = escaped.replace(
      LINE_START,
      (_all, mark?: string, dash?: string, digits?: string, dot?: string) =>
        digits === undefined ? `\\${mark ?? dash ?? '|'}` : `${digits}\\${dot ?? ''}`,
    );
  }
  return escaped;
}

/** Code needs a delimiter that it does not contain. */
function codeSpan(code: string, isCell: boolean): string {
  const text = (isCell ? code.replace(/\|/g, '\\|') : code).replace(/\n/g, ' ');
  if (text.trim() === '') return text;
  let longest = 0;
  for (const [run] of text.matchAll(BACKTICKS)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  const pad = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${pad}${text}${pad}${fence}`;
}

function urlOf(url: string): string {
  return url.replace(UNSAFE_IN_URL, (char) => (char === '(' ? '%28' : char === ')' ? '%29' : urlPart(char)));
}

const TICKS = /`{3,}/g;

/** A text as a code block of Markdown, with a fence that it does not contain. */
export function codeFence(text: string, language: string): string {
  let longest = 2;
  for (const [run] of text.matchAll(TICKS)) longest = Math.max(longest, run.length);
  const fence = '`'.repeat(longest + 1);
  return `${fence}${language}\n${text.replace(/\n+$/, '')}\n${fence}`;
}
