import { urlPart } from '../../../lib/url-part.ts';
import { KIND, type NodeKind } from './content-kinds.ts';
import type { InlineToken } from './inline-run.ts';

export interface InlineContext {
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
