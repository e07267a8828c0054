import { diffArrays } from 'diff';

export interface TextSegment {
  /** `skipped` stands for unchanged text that is left out; it has no text. */
  readonly kind: 'same' | 'removed' | 'added' | 'skipped';
  readonly text: string;
  /** Characters of the segment, also where its text is cut. */
  readonly chars: number;
}

/** What changed between two texts. No segments: nothing did. */
export interface TextDiff {
  readonly segments: readonly TextSegment[];
  readonly addedChars: number;
  readonly removedChars: number;
  /** Changed characters of all characters, 0 to 1. */
  readonly share: number;
  /** True when the texts differ in too many places: what lies between the first and the last one counts as replaced. */
  readonly isCoarse: boolean;
  /** True when segments were cut or left out, because together they are longer than a diff may be. */
  readonly isTruncated: boolean;
}

export interface TextDiffOptions {
  /** `line`: whole lines. `word`: the words within lines that changed. */
  readonly by: 'line' | 'word';
  /** Comparisons of words and lines that the diff may cost. */
  readonly steps?: number;
  /** Unchanged characters that are shown before and behind a change. */
  readonly contextChars?: number;
  /** Characters of all segments together. */
  readonly shownChars?: number;
}

const STEPS = 4_000_000;
const CONTEXT_CHARS = 200;
const SHOWN_CHARS = 200_000;
/** Longer texts are not split into lines and words. */
const MOST_CHARS = 4_000_000;
/** Words, and what stands between them: the white space, and each other character by itself. */
const WORDS = /[\p{L}\p{N}\p{M}_]+|\s+|[^\p{L}\p{N}\p{M}_\s]/gu;
const LINES = /[^\n]*\n|[^\n]+$/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are no text.
const WHITE = /[\s\u0000-\u0020\u007f-\u00a0]+/g;

export const NO_TEXT_DIFF: TextDiff = {
  segments: [],
  addedChars: 0,
  removedChars: 0,
  share: 0,
  isCoarse: false,
  isTruncated: false,
};

/** A text with its white space collapsed to single spaces: what decides whether two texts are the same. */
export const collapseText = (text: string): string => text.replace(WHITE, ' ').trim();

/** Texts that differ in white space only are the same. Order counts: words that change places are a change. */
export function diffText(a: string, b: string, options: TextDiffOptions): TextDiff {
  if (a === b || collapseText(a) === collapseText(b)) return NO_TEXT_DIFF;
  const budget = new StepBudget(options.steps ?? STEPS);
  const { pieces, isCoarse } =
    Math.max(a.length, b.length) > MOST_CHARS ? replacedMiddle(a, b) : diffLines(a, b, options.by, budget);
  return measured(pieces, isCoarse, options);
}

interface Piece {
  readonly kind: TokenRun['kind'];
  readonly text: string;
}

interface Pieces {
  readonly pieces: readonly Piece[];
  readonly isCoarse: boolean;
}

function diffLines(a: string, b: string, by: TextDiffOptions['by'], budget: StepBudget): Pieces {
  const [before, after] = [a.match(LINES) ?? [], b.match(LINES) ?? []];
  const lines = diffTokens(before, after, budget);
  const pieces = piecesOf(before, after, lines.runs);
  if (by === 'line' || lines.isCoarse) return { pieces, isCoarse: lines.isCoarse };
  return refine(pieces, budget);
}

/** Replaces each pair of removed and added lines by the words that changed within them. */
function refine(pieces: readonly Piece[], budget: StepBudget): Pieces {
  const refined: Piece[] = [];
  let isCoarse = false;
  for (let at = 0; at < pieces.length; at += 1) {
    const [one, other] = [pieces[at] as Piece, pieces[at + 1]];
    const isPair = one.kind !== 'same' && other !== undefined && other.kind !== 'same';
    if (!isPair) {
      refined.push(one);
      continue;
    }
    at += 1;
    const [removed, added] = one.kind === 'removed' ? [one.text, other.text] : [other.text, one.text];
    const [before, after] = [removed.match(WORDS) ?? [], added.match(WORDS) ?? []];
    const words = diffTokens(before, after, budget);
    isCoarse ||= words.isCoarse;
    refined.push(...piecesOf(before, after, words.runs));
  }
  return { pieces: refined, isCoarse };
}

function piecesOf(a: readonly string[], b: readonly string[], runs: readonly TokenRun[]): Piece[] {
  let [inA, inB] = [0, 0];
  return runs.map(({ kind, count }) => {
    const text = kind === 'removed' ? a.slice(inA, inA + count) : b.slice(inB, inB + count);
    if (kind !== 'added') inA += count;
    if (kind !== 'removed') inB += count;
    return { kind, text: text.join('') };
  });
}

/** Everything between the first and the last character that differ. */
function replacedMiddle(a: string, b: string): Pieces {
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && a.charCodeAt(start) === b.charCodeAt(start)) start += 1;
  let end = 0;
  while (end < least - start && a.charCodeAt(a.length - 1 - end) === b.charCodeAt(b.length - 1 - end))
    end += 1;
  const pieces: Piece[] = [
    { kind: 'same', text: b.slice(0, start) },
    { kind: 'removed', text: a.slice(start, a.length - end) },
    { kind: 'added', text: b.slice(start, b.length - end) },
    { kind: 'same', text: b.slice(b.length - end) },
  ];
  return { pieces: pieces.filter(({ text }) => text !== ''), isCoarse: true };
}

function measured(pieces: readonly Piece[], isCoarse: boolean, options: TextDiffOptions): TextDiff {
  const { contextChars = CONTEXT_CHARS, shownChars = SHOWN_CHARS } = options;
  const chars = { same: 0, removed: 0, added: 0 };
  const segments: TextSegment[] = [];
  let left = shownChars;
  let isTruncated = false;
  const show = (kind: TextSegment['kind'], text: string): void => {
    if (text === '') return;
    const shown = text.slice(0, left);
    left -= shown.length;
    isTruncated ||= shown.length < text.length;
    if (kind === 'same' && shown === '') return;
    segments.push({ kind, text: shown, chars: text.length });
  };
  for (const [at, { kind, text }] of pieces.entries()) {
    chars[kind] += text.length;
    if (kind !== 'same') {
      show(kind, text);
      continue;
    }
    const [head, tail] = [at === 0 ? 0 : contextChars, at === pieces.length - 1 ? 0 : contextChars];
    if (text.length <= head + tail) {
      show(kind, text);
      continue;
    }
    show(kind, text.slice(0, head));
    const skipped = text.length - head - tail;
    segments.push({ kind: 'skipped', text: '', chars: skipped });
    show(kind, tail === 0 ? '' : text.slice(-tail));
  }
  const { same, removed, added } = chars;
  return {
    segments,
    addedChars: added,
    removedChars: removed,
    share: (added + removed) / (2 * same + added + removed),
    isCoarse,
    isTruncated,
  };
}

/** A stretch of tokens: `count` of the earlier list, of the later one, or of both. */
export interface TokenRun {
  readonly kind: 'same' | 'removed' | 'added';
  readonly count: number;
}

interface TokenDiff {
  readonly runs: readonly TokenRun[];
  /** True when the steps did not suffice: all tokens between the first and the last difference count as replaced. */
  readonly isCoarse: boolean;
}

/** The comparisons that remain for a diff. Counting them ends the same diff always at the same place. */
export class StepBudget {
  #left: number;

  constructor(steps: number) {
    this.#left = steps;
  }

  get isSpent(): boolean {
    return this.#left <= 0;
  }

  spend(steps: number): void {
    this.#left -= steps;
  }
}

/** The search keeps one object for each pair of edit length and diagonal; this bounds them to half a million. */
const MOST_EDITS = 1_000;

class StepsSpent extends Error {}

/** The shortest edit between two lists of tokens, by the algorithm of Myers, within the budget. */
export function diffTokens(a: readonly string[], b: readonly string[], budget: StepBudget): TokenDiff {
  const least = Math.min(a.length, b.length);
  let start = 0;
  while (start < least && a[start] === b[start]) start += 1;
  let end = 0;
  while (end < least - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end += 1;
  budget.spend(start + end);
  const head = run('same', start);
  const tail = run('same', end);
  const middle = search(a.slice(start, a.length - end), b.slice(start, b.length - end), budget);
  return { runs: [...head, ...middle.runs, ...tail], isCoarse: middle.isCoarse };
}

const run = (kind: TokenRun['kind'], count: number): TokenRun[] => (count === 0 ? [] : [{ kind, count }]);

function search(a: readonly string[], b: readonly string[], budget: StepBudget): TokenDiff {
  const replaced = [...run('removed', a.length), ...run('added', b.length)];
  if (a.length === 0 || b.length === 0) return { runs: replaced, isCoarse: false };
  const numbers = new Map<string, number>();
  const numberOf = (token: string): number => {
    const known = numbers.get(token);
    if (known !== undefined) return known;
    numbers.set(token, numbers.size + 1);
    return numbers.size;
  };
  const [left, right] = [a.map(numberOf), b.map(numberOf)];
  budget.spend(left.length + right.length);
  const isSame = (one: number, other: number): boolean => {
    budget.spend(1);
    if (budget.isSpent) throw new StepsSpent();
    return one === other;
  };
  try {
    const found = diffArrays(left, right, { comparator: isSame, maxEditLength: MOST_EDITS });
    if (found === undefined) return { runs: replaced, isCoarse: true };
    const runs = found.map(({ added, removed, count }): TokenRun => {
      return { kind: added ? 'added' : removed ? 'removed' : 'same', count };
    });
    return { runs, isCoarse: false };
  } catch (error) {
    if (error instanceof StepsSpent) return { runs: replaced, isCoarse: true };
    throw error;
  }
}
