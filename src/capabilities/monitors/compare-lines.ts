import type { Slot, WatchedContent } from '../../core/model/monitor.ts';
import { diffTokens, StepBudget, type TokenRun } from '../../extract/diff/text-diff.ts';
import { counterPlaces, isSameButTime, movedTimes, withoutTimes } from './clock-text.ts';

/** A place where the observed content is not that of the baseline. */
export interface Difference {
  /** Lines of the baseline; `to` is exclusive. */
  readonly from: number;
  readonly to: number;
  /** The number within the line, counted from 0, that differs and nothing else; null: whole lines do. */
  readonly part: number | null;
  /** What stands there now; of a number its text. */
  readonly lines: readonly string[];
}

export interface Comparison {
  readonly differences: readonly Difference[];
  /** Lines of the baseline that are still there, of those that are no noise. 0 to 1. */
  readonly keptShare: number;
  readonly removedLines: number;
  readonly addedLines: number;
}

/** Comparisons of lines that one page may cost. */
const STEPS = 2_000_000;
/** Lines that may be searched for numbers and times, to find what is the same but for these. */
const LOOKS = 200_000;
/** Characters of a line that count as one look. */
const LOOK_CHARS = 64;
/** A line with more numbers that differ is another line. */
const MOST_PARTS = 32;
const NUMBER = /\d+(?:[.,'’\u00a0\u202f]\d+)*/g;

/**
 * Compares the observed content with the baseline. Times that have gone on with the clock, numbers that count visitors and
 * slots that are noise make no difference. Null when the contents have too little in common to be compared within the
 * steps that a page may cost. `looks` bounds the search for numbers and times.
 */
export function compareLines(
  baseline: WatchedContent,
  observed: WatchedContent,
  slots: readonly Slot[],
  learnNoise: boolean,
  looks = new StepBudget(LOOKS),
): Comparison | null {
  const noise = slots.filter(({ isNoise }) => isNoise);
  const places = learnNoise ? baselinePlaces(baseline, noise, looks) : null;
  const lines = observed.lines.map((line) => {
    const at = places === null ? -1 : places.find(line, observed.at);
    return at < 0 ? line : (baseline.lines[at] ?? line);
  });
  if (looks.isSpent) return null;
  const blocks = noise.filter(({ part }) => part === null);
  const kept = baseline.lines.flatMap((_, at) =>
    blocks.some(({ from, to }) => at >= from && at < to) ? [] : [at],
  );
  const texts = kept.map((at) => baseline.lines[at] ?? '');
  const { runs, isCoarse } = diffTokens(texts, lines, new StepBudget(STEPS));
  if (isCoarse) return null;
  const differences = hunksOf(runs, kept, baseline.lines.length, lines)
    .flatMap((hunk) => withoutNoise(hunk, blocks))
    .flatMap((hunk) => refined(hunk, baseline, observed.at));
  const count = (kind: TokenRun['kind']) =>
    runs.reduce((sum, run) => (run.kind === kind ? sum + run.count : sum), 0);
  return {
    differences,
    keptShare: texts.length === 0 ? 1 : count('same') / texts.length,
    removedLines: count('removed'),
    addedLines: count('added'),
  };
}

/** The line with each number replaced by a sign; only those of `parts` where given. */
function withoutNumbers(line: string, parts?: ReadonlySet<number>): string {
  let at = -1;
  return line.replace(NUMBER, (number) => {
    at += 1;
    return parts === undefined || parts.has(at) ? '\u0002' : number;
  });
}

/** Which numbers of the line count visitors. */
function counterParts(line: string): readonly number[] {
  const places = counterPlaces(line);
  if (places.length === 0) return [];
  return [...line.matchAll(NUMBER)].flatMap(({ index }, part) => (places.includes(index) ? [part] : []));
}

/** The line with a sign for each number and each time. */
export const skeletonOf = (line: string): string => withoutNumbers(withoutTimes(line));

const looksAt = (line: string): number => 1 + Math.floor(line.length / LOOK_CHARS);

/** Lines that are alike and have the same numbers that are noise, by what is left of them. */
interface AlikeLines {
  readonly parts: ReadonlySet<number>;
  /** By the text of a line without those numbers, the place of the first such line. */
  readonly first: Map<string, number>;
  /** By the text without its times as well, the places of all such lines; only for lines that have times. */
  readonly timed: Map<string, number[]>;
}

/**
 * Finds the line of the baseline that an observed line is the same as, but for times and noise; -1 when there is none, or
 * the budget is spent. Lines are found by what is left of them, so that the cost grows with their number; only those with
 * times that differ are compared one by one.
 */
function baselinePlaces(
  { lines, at: baselineAt, ats = [] }: WatchedContent,
  noise: readonly Slot[],
  looks: StepBudget,
) {
  const exact = new Set(lines);
  const noiseParts = new Map<number, Set<number>>();
  for (const { from, part } of noise) {
    if (part !== null) noiseParts.set(from, (noiseParts.get(from) ?? new Set()).add(part));
  }
  const textAt = (at: number) => lines[at] ?? '';
  const partsAt = (at: number): ReadonlySet<number> =>
    new Set([...(noiseParts.get(at) ?? []), ...counterParts(textAt(at))]);
  const left = (line: string, parts: ReadonlySet<number>): string => {
    looks.spend(looksAt(line));
    return parts.size === 0 ? line : withoutNumbers(line, parts);
  };
  const isSame = (at: number, line: string, observedAt: number, parts = partsAt(at)): boolean =>
    isSameButTime(left(textAt(at), parts), ats[at] ?? baselineAt, left(line, parts), observedAt);

  const bySkeleton = new Map<string, number[]>();
  for (const [at, line] of lines.entries()) {
    if (looks.isSpent) break;
    looks.spend(looksAt(line));
    pushTo(bySkeleton, skeletonOf(line), at);
  }
  const indexes = new Map<string, readonly AlikeLines[]>();
  const indexOf = (skeleton: string, alike: readonly number[]): readonly AlikeLines[] => {
    const known = indexes.get(skeleton);
    if (known !== undefined) return known;
    const made = new Map<string, AlikeLines>();
    for (const at of alike) {
      if (looks.isSpent) break;
      const parts = partsAt(at);
      const key = [...parts].sort((a, b) => a - b).join();
      const own = made.get(key) ?? { parts, first: new Map(), timed: new Map() };
      made.set(key, own);
      const line = left(textAt(at), parts);
      if (!own.first.has(line)) own.first.set(line, at);
      const timeless = withoutTimes(line);
      if (timeless !== line) pushTo(own.timed, timeless, at);
    }
    const index = [...made.values()];
    indexes.set(skeleton, index);
    return index;
  };
  /** The first line of the baseline, wherever it stands. */
  const findAlike = (line: string, observedAt: number, index: readonly AlikeLines[]): number => {
    const found = index.flatMap(({ parts, first, timed }) => {
      if (looks.isSpent) return [];
      const own = left(line, parts);
      const timeless = withoutTimes(own);
      const sameTime = first.get(own);
      const others = timeless === own ? [] : (timed.get(timeless) ?? []);
      const moved = others.find((at) => looks.isSpent || isSame(at, line, observedAt, parts));
      return [sameTime, moved].filter((at) => at !== undefined);
    });
    return found.length === 0 ? -1 : Math.min(...found);
  };
  const met = new Map<string, number>();
  return {
    find(line: string, observedAt: number): number {
      if (looks.isSpent) return -1;
      looks.spend(looksAt(line));
      const skeleton = skeletonOf(line);
      const alike = bySkeleton.get(skeleton);
      if (alike === undefined) return -1;
      // When lines are alike, such as those of a list, the first of them is compared with the first, and so on.
      const count = met.get(skeleton) ?? 0;
      met.set(skeleton, count + 1);
      const own = alike[count];
      if (own !== undefined && isSame(own, line, observedAt)) return own;
      return exact.has(line) ? -1 : findAlike(line, observedAt, indexOf(skeleton, alike));
    },
  };
}

function pushTo(lists: Map<string, number[]>, key: string, value: number): void {
  const known = lists.get(key);
  if (known === undefined) lists.set(key, [value]);
  else known.push(value);
}

/** Lines of the baseline that were replaced by others. `kept` are the lines that were compared. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  /** Lines before `from` up to the compared line before, and from `to` to the one behind: only noise stands there. */
  readonly after: number;
  readonly before: number;
  readonly removed: readonly number[];
  readonly added: readonly string[];
}

function hunksOf(
  runs: readonly TokenRun[],
  kept: readonly number[],
  total: number,
  lines: readonly string[],
): Hunk[] {
  const hunks: Hunk[] = [];
  let [inBase, inLines] = [0, 0];
  for (let at = 0; at < runs.length; ) {
    const run = runs[at] as TokenRun;
    if (run.kind === 'same') {
      inBase += run.count;
      inLines += run.count;
      at += 1;
      continue;
    }
    const [firstBase, firstLine] = [inBase, inLines];
    for (; at < runs.length && runs[at]?.kind !== 'same'; at += 1) {
      const { kind, count } = runs[at] as TokenRun;
      if (kind === 'removed') inBase += count;
      else inLines += count;
    }
    const removed = kept.slice(firstBase, inBase);
    const after = firstBase === 0 ? 0 : (kept[firstBase - 1] ?? 0) + 1;
    const before = kept[inBase] ?? total;
    hunks.push({
      from: removed[0] ?? after,
      to: removed.length === 0 ? after : (removed.at(-1) ?? 0) + 1,
      after,
      before,
      removed,
      added: lines.slice(firstLine, inLines),
    });
  }
  return hunks;
}

type Replaced = Pick<Difference, 'from' | 'to' | 'lines'>;

/** Takes the lines of a slot that is noise out of a hunk, as many as the slot has had. */
function withoutNoise(hunk: Hunk, blocks: readonly Slot[]): Replaced[] {
  const { from, to, after, before, removed, added } = hunk;
  const whole = { from, to, lines: added };
  const slot = blocks.find((block) => block.from >= after && block.to <= before);
  if (slot === undefined) return [whole];
  if (removed.length === 0) return [];
  const ahead = removed.filter((at) => at < slot.from).length;
  const behind = removed.length - ahead;
  const counts = slot.values.map((value) => value.lines);
  const most = Math.max(...counts);
  const noisy = Math.min(most, Math.max(Math.min(...counts), added.length - removed.length), added.length);
  const left = Math.min(ahead, added.length - noisy);
  const head = {
    from,
    to: ahead === 0 ? from : (removed[ahead - 1] ?? from) + 1,
    lines: added.slice(0, left),
  };
  const tail = { from: removed[ahead] ?? to, to, lines: added.slice(left + noisy) };
  return [...(ahead === 0 ? [] : [head]), ...(behind === 0 && tail.lines.length === 0 ? [] : [tail])];
}

/** As many lines as before are compared one by one, and lines that differ in their numbers number by number. */
function refined({ from, to, lines }: Replaced, baseline: WatchedContent, observedAt: number): Difference[] {
  if (to - from !== lines.length) return [{ from, to, part: null, lines }];
  return lines.flatMap((line, index): Difference[] => {
    const at = from + index;
    const before = baseline.lines[at] ?? '';
    if (before === line) return [];
    const whole = { from: at, to: at + 1, part: null, lines: [line] };
    if (withoutNumbers(before) !== withoutNumbers(line)) return [whole];
    const was = before.match(NUMBER) ?? [];
    const moved = movedTimes(before, baseline.ats?.[at] ?? baseline.at, line, observedAt);
    const parts = [...line.matchAll(NUMBER)].flatMap(({ 0: number, index: place }, part) => {
      const isTime = moved.some((time) => place >= time.from && place < time.to);
      return number === was[part] || isTime ? [] : [{ from: at, to: at + 1, part, lines: [number] }];
    });
    return parts.length > MOST_PARTS ? [whole] : parts;
  });
}

/** The lines of the baseline from `from` to `to` with the differences in their place. */
export function appliedLines(
  baseline: readonly string[],
  differences: readonly Difference[],
  from = 0,
  to = baseline.length,
): string[] {
  const inside = differences
    .filter((each) => each.from >= from && each.to <= to)
    .sort((a, b) => a.from - b.from || a.to - b.to);
  const lines: string[] = [];
  let at = from;
  for (const each of inside) {
    if (each.part !== null) continue;
    lines.push(...numbered(baseline, at, each.from, inside), ...each.lines);
    at = each.to;
  }
  return [...lines, ...numbered(baseline, at, to, inside)];
}

function numbered(
  baseline: readonly string[],
  from: number,
  to: number,
  differences: readonly Difference[],
): string[] {
  return baseline.slice(from, to).map((line, index) => {
    const parts = differences.filter((each) => each.part !== null && each.from === from + index);
    if (parts.length === 0) return line;
    let at = -1;
    return line.replace(NUMBER, (number) => {
      at += 1;
      return parts.find(({ part }) => part === at)?.lines[0] ?? number;
    });
  });
}

/** The content with the differences in their place; the lines that came with them were seen at `at`. */
export function appliedContent(
  { at: formerAt, lines, ats = [] }: WatchedContent,
  differences: readonly Difference[],
  at: number,
): WatchedContent {
  const blocks = differences
    .filter(({ part }) => part === null)
    .sort((a, b) => a.from - b.from || a.to - b.to);
  const times: number[] = [];
  let next = 0;
  const keepTo = (to: number) => {
    for (; next < to; next += 1) times.push(ats[next] ?? formerAt);
  };
  for (const { from, to, lines: own } of blocks) {
    keepTo(from);
    for (const _ of own) times.push(at);
    next = to;
  }
  keepTo(lines.length);
  return { at: formerAt, lines: appliedLines(lines, differences), ats: times };
}

/** The text of a number of the line. */
export const numberIn = (line: string, part: number): string => line.match(NUMBER)?.[part] ?? '';

/** The lines without those that are noise, and without times and the numbers that are noise. */
export function steadyLines(lines: readonly string[], slots: readonly Slot[]): string[] {
  const noise = slots.filter(({ isNoise }) => isNoise);
  return lines.flatMap((line, at) => {
    if (noise.some(({ from, to, part }) => part === null && at >= from && at < to)) return [];
    const parts = noise.flatMap(({ from, part }) => (part !== null && from === at ? [part] : []));
    return [withoutTimes(withoutNumbers(line, new Set([...parts, ...counterParts(line)])))];
  });
}
