/** A piece of a comparison of two texts, as the API gives it. */
export interface DiffSegment {
  readonly kind: 'same' | 'removed' | 'added' | 'skipped';
  readonly text: string;
  /** Characters of the piece, also where its text is cut. */
  readonly chars: number;
}

export interface DiffSpan {
  readonly text: string;
  readonly isChanged: boolean;
}

/** One line of each side; null where only the other side has one. A row with `skipped` stands for lines that are not shown. */
export interface DiffRow {
  readonly before: readonly DiffSpan[] | null;
  readonly after: readonly DiffSpan[] | null;
  readonly isChanged: boolean;
  readonly skippedChars?: number;
}

/** The lines of one side since the last row; null is a line that the other side alone has. */
type Lines = (DiffSpan[] | null)[];

/** Pieces of a comparison as rows of two columns: lines that are the same stand beside each other. */
export function diffRows(segments: readonly DiffSegment[]): readonly DiffRow[] {
  const rows: DiffRow[] = [];
  let before: Lines = [[]];
  let after: Lines = [[]];

  const add = (lines: Lines, text: string, isChanged: boolean) => {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push({ text: part, isChanged });
    }
  };
  const flush = () => {
    for (let index = 0; index < Math.max(before.length, after.length); index++) {
      const left = before[index] ?? null;
      const right = after[index] ?? null;
      rows.push({
        before: left,
        after: right,
        isChanged: left === null || right === null || hasChange(left, right),
      });
    }
    before = [[]];
    after = [[]];
  };

  for (const { kind, text, chars } of segments) {
    if (kind === 'removed') add(before, text, true);
    else if (kind === 'added') add(after, text, true);
    else if (kind === 'skipped') {
      if (!isBlank(before) || !isBlank(after)) flush();
      rows.push({ before: null, after: null, isChanged: false, skippedChars: chars });
    } else {
      for (const [index, part] of text.split('\n').entries()) {
        if (index > 0) flush();
        alignEnds(before, after);
        add(before, part, false);
        add(after, part, false);
      }
    }
  }
  if (!isBlank(before) || !isBlank(after)) flush();
  return rows;
}

/** Whole lines that one side alone has stand before the text that follows on both sides. */
function alignEnds(before: Lines, after: Lines): void {
  const [shorter, longer] = before.length < after.length ? [before, after] : [after, before];
  if (shorter.at(-1)?.length !== 0) return;
  const missing = longer.length - shorter.length;
  shorter.splice(-1, 0, ...Array.from({ length: missing }, () => null));
}

const isBlank = (lines: Lines): boolean => lines.every((spans) => spans === null || spans.length === 0);
const hasChange = (...sides: readonly (readonly DiffSpan[])[]): boolean =>
  sides.some((spans) => spans.some(({ isChanged }) => isChanged));
