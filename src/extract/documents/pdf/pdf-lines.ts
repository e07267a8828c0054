/** A piece of text as it stands on a page of a PDF. */
export interface PdfPiece {
  readonly text: string;
  readonly x: number;
  /** From the bottom. */
  readonly y: number;
  readonly width: number;
  readonly size: number;
  readonly isLineEnd: boolean;
}

export interface PdfLine {
  readonly text: string;
  readonly y: number;
  readonly size: number;
}

/** Pieces nearer than this, in parts of their size, are one word. */
const WORD_GAP = 0.15;
/** Lines farther apart than this, in parts of their size, are two paragraphs. */
const PARAGRAPH_GAP = 1.75;
const HEADING_FACTOR = 1.2;
const HEADING_CHARS = 200;

/** Lines in the order the document draws them, which is the reading order in nearly all documents. */
export function linesOf(pieces: readonly PdfPiece[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let text = '';
  let size = 0;
  let last: PdfPiece | null = null;
  let y = 0;
  const end = (): void => {
    const line = text.replace(/\s+/g, ' ').trim();
    if (line !== '') lines.push({ text: line, y, size });
    text = '';
    size = 0;
    last = null;
  };
  for (const piece of pieces) {
    const before: PdfPiece | null = last;
    if (before !== null && isElsewhere(before, piece)) end();
    else if (before !== null && piece.x - (before.x + before.width) > WORD_GAP * piece.size) text += ' ';
    if (text === '') y = piece.y;
    text += piece.text;
    if (piece.text.trim() !== '') {
      size = Math.max(size, piece.size);
      last = piece;
    }
    if (piece.isLineEnd) end();
  }
  end();
  return lines;
}

function isElsewhere(before: PdfPiece, piece: PdfPiece): boolean {
  if (piece.text.trim() === '') return false;
  return Math.abs(piece.y - before.y) > Math.max(before.size, piece.size) * 0.6;
}

/** The size of most of the text. */
export function bodySize(lines: readonly PdfLine[]): number {
  const chars = new Map<number, number>();
  for (const { size, text } of lines) {
    const rounded = Math.round(size * 2) / 2;
    chars.set(rounded, (chars.get(rounded) ?? 0) + text.length);
  }
  let [found, most] = [0, 0];
  for (const [size, count] of chars) if (count > most) [found, most] = [size, count];
  return found;
}

export const isHeading = ({ size, text }: PdfLine, body: number): boolean =>
  body > 0 && size >= body * HEADING_FACTOR && text.length <= HEADING_CHARS && /\p{L}/u.test(text);

/** Lines that belong together. */
export function paragraphsOf(lines: readonly PdfLine[], body: number): PdfLine[][] {
  const paragraphs: PdfLine[][] = [];
  let last: PdfLine | null = null;
  for (const line of lines) {
    const gap = last === null ? 0 : last.y - line.y;
    const isSame =
      last !== null &&
      gap > 0 &&
      gap < Math.max(last.size, line.size) * PARAGRAPH_GAP &&
      isHeading(last, body) === isHeading(line, body);
    const current = paragraphs[paragraphs.length - 1];
    if (isSame && current !== undefined) current.push(line);
    else paragraphs.push([line]);
    last = line;
  }
  return paragraphs;
}

/** The lines of a paragraph as one; a word hyphenated at the end of a line is joined. */
export function joinedLines(lines: readonly PdfLine[]): string {
  let out = '';
  for (const { text } of lines) {
    if (/\p{Ll}[-\u00ad]$/u.test(out) && /^\p{Ll}/u.test(text)) out = out.slice(0, -1) + text;
    else out += out === '' ? text : ` ${text}`;
  }
  return out;
}
