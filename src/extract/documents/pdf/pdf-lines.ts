/** A piece of text as it stands on a page of a PDF. */
export interface PdfPiece {
  readonly text: string;
  readonly x: number;
  /** Distance from the bottom of the page. */
  readonly y: number;
  readonly width: number;
  readonly size: number;
  readonly isLineEnd: boolean;
}

export interface PdfLine {
  readonly text: string;
  readonly x: number;
  readonly right: number;
  readonly y: number;
  readonly size: number;
  /** Its parts with wide gaps between them; one for a line of running text. */
  readonly cells: readonly PdfCell[];
}

export interface PdfCell {
  readonly text: string;
  readonly x: number;
  readonly right: number;
  readonly size: number;
}

/** Pieces nearer than this, in parts of their size, are one word. */
const WORD_GAP = 0.15;
/** Pieces farther apart than this, in parts of their size, may be cells of a table. */
const CELL_GAP = 1;
/** Lines farther apart than this, in parts of their size, are two paragraphs. */
const PARAGRAPH_GAP = 1.75;
const HEADING_FACTOR = 1.2;
const HEADING_CHARS = 200;

/** Lines in the order the document draws them, which is the reading order in nearly all documents. */
export function linesOf(pieces: readonly PdfPiece[]): PdfLine[] {
  const lines: PdfLine[] = [];
  let draft = new LineDraft();
  const end = (): void => {
    const line = draft.finish();
    if (line !== null) lines.push(line);
    draft = new LineDraft();
  };
  for (const piece of pieces) {
    if (draft.last !== null && isElsewhere(draft.last, piece)) end();
    draft.add(piece);
    if (piece.isLineEnd) end();
  }
  end();
  return lines;
}

/** A line while its pieces come. */
class LineDraft {
  /** The last piece that is no white space. */
  last: PdfPiece | null = null;
  readonly #cells: { text: string; x: number; right: number; size: number }[] = [];
  #y = 0;

  add(piece: PdfPiece): void {
    const { last } = this;
    const cell = this.#cells.at(-1);
    const isBlank = piece.text.trim() === '';
    const gap = last === null ? 0 : (piece.x - (last.x + last.width)) / Math.max(piece.size, 1);
    if (cell === undefined || (!isBlank && (gap > CELL_GAP || gap < -CELL_GAP * 2))) {
      if (isBlank) return;
      if (cell === undefined) this.#y = piece.y;
      this.#cells.push({ text: piece.text, x: piece.x, right: piece.x + piece.width, size: piece.size });
    } else {
      cell.text += gap > WORD_GAP && !isBlank ? ` ${piece.text}` : piece.text;
      if (!isBlank) cell.right = Math.max(cell.right, piece.x + piece.width);
      if (!isBlank) cell.size = Math.max(cell.size, piece.size);
    }
    if (!isBlank) this.last = piece;
  }

  /** Returns null for a line without text. */
  finish(): PdfLine | null {
    const cells = this.#cells
      .map((cell) => ({ ...cell, text: cell.text.replace(/\s+/g, ' ').trim() }))
      .filter(({ text }) => text !== '');
    const [first] = cells;
    if (first === undefined) return null;
    return {
      text: cells.map(({ text }) => text).join(' '),
      x: cells.reduce((least, { x }) => Math.min(least, x), first.x),
      right: cells.reduce((most, { right }) => Math.max(most, right), first.right),
      y: this.#y,
      size: cells.reduce((most, { size }) => Math.max(most, size), 0),
      cells,
    };
  }
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
  return flowsOf(lines, 0).join(' ');
}

/**
 * The lines of a paragraph as its author broke them: lines that go on because the page was at its end (`right`) are one, with a word
 * hyphenated there joined; a line that ends although the next word would have fitted ends on purpose, as in addresses and lists.
 */
export function flowsOf(lines: readonly PdfLine[], right: number): string[] {
  const flows: string[] = [];
  let last: PdfLine | null = null;
  for (const line of lines) {
    const { text } = line;
    const before = flows.at(-1);
    if (before === undefined || last === null) flows.push(text);
    else if (/\p{Ll}[-\u00ad]$/u.test(before) && /^\p{Ll}/u.test(text)) {
      flows[flows.length - 1] = before.slice(0, -1) + text;
    } else if (hasRoom(last, line, right)) flows.push(text);
    else flows[flows.length - 1] = `${before} ${text}`;
    last = line;
  }
  return flows;
}

/** True when the first word of the next line would have fitted behind a line. */
function hasRoom(line: PdfLine, next: PdfLine, right: number): boolean {
  const [word = ''] = next.text.split(' ', 1);
  const perChar = (next.right - next.x) / Math.max(1, next.text.length);
  return line.right + (word.length + 1) * perChar + line.size / 2 < right;
}

/** More lines of a page do not show better where its columns end. */
const MOST_COMPARED = 1_000;

/** Where the lines above and below a paragraph end at most: the end of its column. */
export function columnEnd(paragraph: readonly PdfLine[], lines: readonly PdfLine[]): number {
  const from = paragraph.reduce((least, { x }) => Math.min(least, x), Number.POSITIVE_INFINITY);
  const to = paragraph.reduce((most, { right }) => Math.max(most, right), 0);
  let end = to;
  for (const { x, right } of lines.slice(0, MOST_COMPARED))
    if (x < to && right > from) end = Math.max(end, right);
  return end;
}
