import { KIND, type NodeKind } from './content-kinds.ts';

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
