import { hash } from 'node:crypto';
import type { ChangeRules, Slot, SlotValue } from '../../core/model/monitor.ts';
import { type Difference, numberIn, skeletonOf } from './compare-lines.ts';

/**
 * Slots: places of a page that were seen with several contents, and what each of them has taught.
 *
 * A change that is real stays: checks in a row see the same. A clock, a counter, an advertisement or a variant of a test
 * does not: its content is gone before it is confirmed, which is a flicker. Each flicker raises the number of checks that
 * a later content of that slot has to stay for, and a slot that goes on showing new contents is noise. A slot that shows
 * the same few contents in turn has variants; each is told once at most.
 */

/** Contents that never stayed before a slot counts as noise. */
const NOISE_CONTENTS = 5;
const MOST_COUNTED_FLICKERS = 8;
/** So many checks in a row with the same content halve what the slot has against it. */
const CALM_CHECKS = 20;
/** From so many flickers on the contents of a slot are variants that take turns. */
const VARIANT_FLICKERS = 2;
/** A slot has shown all its contents when so many checks have brought no new one. */
const SETTLED_CHECKS = 12;
/** A slot with more contents, over all that overlap it, has no variants but advertisements. */
const MOST_VARIANTS = 5;
/** A variant is shown at so many of the checks at least; what is seen less often is an accident. */
const VARIANT_SHARE = 0.25;
/** What a number in a line counts for that has another number that is noise. */
const NOISE_BESIDE = 2;
const MOST_VALUES = 16;
const MOST_SLOTS = 200;

/** The content of the baseline. */
const BASE = 'base';

const hashOf = (lines: readonly string[]): string => hash('sha256', lines.join('\n'), 'hex').slice(0, 16);

/**
 * What makes two contents of a slot the same: for whole lines their words, because numbers and times may go on changing in
 * lines that are new; where nothing but these differs from the baseline, everything.
 */
function contentId(part: number | null, lines: readonly string[], base: readonly string[]): string {
  if (part !== null) return hashOf(lines);
  const words = hashOf(lines.map(skeletonOf));
  return words === hashOf(base.map(skeletonOf)) ? hashOf(lines) : words;
}

/** How many checks in a row make a content one that stays. */
const steadyRun = ({ confirm }: ChangeRules) => Math.max(2, confirm);

/** What one slot says after a check. */
export interface SlotReading {
  readonly slot: Slot;
  /** The content differs from that of the baseline, and the slot is no noise. */
  readonly isDeviating: boolean;
  /** The content has been seen often enough to be reported. */
  readonly isConfirmed: boolean;
  /** The content was reported before, and takes turns with others: it becomes the baseline without another report. */
  readonly isKnown: boolean;
  /** The content was reported before. */
  readonly wasTold: boolean;
  /** Further checks that would confirm it. */
  readonly missingChecks: number;
  readonly difference: Difference;
}

type Place = Pick<Slot, 'from' | 'to' | 'part'>;

/**
 * The slots after a check that saw these differences, each with what it says. `check` counts the checks of the page.
 */
export function readSlots(
  slots: readonly Slot[],
  baseline: readonly string[],
  differences: readonly Difference[],
  check: number,
  rules: ChangeRules,
): readonly SlotReading[] {
  const known = slots.map((slot) => {
    const own = differences.find((each) => isSamePlace(each, slot));
    // What stands there is part of a larger difference, which says nothing about this slot.
    const isHidden = own === undefined && differences.some((each) => overlaps(each, slot));
    if (isHidden) return unobserved(slot);
    return readSlot(slot, slots, baseline, own ?? null, check, rules);
  });
  const added = differences
    .filter((each) => !slots.some((slot) => isSamePlace(each, slot)))
    .map((each) => readSlot(newSlot(each, check, rules), slots, baseline, each, check, rules));
  const readings = [...known, ...added].sort((a, b) => a.slot.from - b.slot.from || a.slot.to - b.slot.to);
  const worth = readings.filter(({ slot, isDeviating }) => isDeviating || isWorthKeeping(slot));
  if (worth.length <= MOST_SLOTS) return worth;
  const [first, rest] = [worth.filter(({ slot }) => slot.isNoise), worth.filter(({ slot }) => !slot.isNoise)];
  return [...first, ...rest].slice(0, MOST_SLOTS);
}

/** A slot that has been calm for long and has had one content only has nothing more to teach. */
const isWorthKeeping = ({ isNoise, flickers, run, values }: Slot): boolean =>
  isNoise || flickers > 0 || run < CALM_CHECKS || values.filter(({ isTold }) => isTold).length > 1;

const isSamePlace = (a: Place, b: Place): boolean => a.from === b.from && a.to === b.to && a.part === b.part;

function overlaps(a: Place, b: Place): boolean {
  if (a.part !== null && b.part !== null) return a.from === b.from && a.part === b.part;
  if (a.from === a.to || b.from === b.to) return a.from <= b.to && b.from <= a.to;
  return a.from < b.to && b.from < a.to;
}

function newSlot({ from, to, part }: Place, check: number, rules: ChangeRules): Slot {
  return {
    from,
    to,
    part,
    last: BASE,
    // Until now every check has seen the baseline here. When these were few, what comes next has to stay for longer.
    run: check - 1,
    flickers: 0,
    isNoise: false,
    values: [
      {
        id: BASE,
        seen: check - 1,
        firstCheck: 1,
        isLate: false,
        isTold: true,
        isSteady: check > steadyRun(rules),
        lines: part === null ? to - from : 1,
      },
    ],
    newAtCheck: 0,
  };
}

const baseLines = ({ from, to, part }: Place, baseline: readonly string[]): readonly string[] =>
  part === null ? baseline.slice(from, to) : [numberIn(baseline[from] ?? '', part)];

const unobserved = (slot: Slot): SlotReading => ({
  slot,
  isDeviating: false,
  isConfirmed: false,
  isKnown: false,
  wasTold: false,
  missingChecks: 0,
  difference: { from: slot.from, to: slot.to, part: slot.part, lines: [] },
});

function readSlot(
  slot: Slot,
  all: readonly Slot[],
  baseline: readonly string[],
  difference: Difference | null,
  check: number,
  rules: ChangeRules,
): SlotReading {
  const base = baseLines(slot, baseline);
  const lines = difference?.lines ?? base;
  const id = difference === null ? BASE : contentId(slot.part, lines, base);
  const seen = observe(slot, id, lines.length, check, rules);
  const value = seen.values.find((each) => each.id === id);
  const isDeviating = difference !== null && !seen.isNoise;
  // What flickers around a slot makes it as doubtful as what flickers in it.
  const around = all.filter((each) => !each.isNoise && overlaps(each, slot));
  const isBesideNoise = all.some(({ isNoise, part, from }) => isNoise && part !== null && from === slot.from);
  const flickers = Math.max(
    seen.flickers,
    isBesideNoise ? NOISE_BESIDE : 0,
    ...around.map((each) => each.flickers),
  );
  const needed = neededRun({ ...seen, flickers }, rules);
  const isTold = value?.isTold ?? false;
  const contents = new Set([seen, ...around].flatMap((each) => each.values.map((one) => one.id)));
  const isVariant =
    flickers > 0 &&
    contents.size <= MOST_VARIANTS &&
    value?.isLate === true &&
    !isTold &&
    value.seen > rules.confirm &&
    value.seen >= VARIANT_SHARE * (check - value.firstCheck + 1);
  return {
    slot: seen,
    isDeviating,
    isConfirmed: isDeviating && (seen.run >= needed || isVariant),
    isKnown: rules.learnNoise && isTold && flickers >= VARIANT_FLICKERS,
    wasTold: isTold,
    missingChecks: isDeviating ? Math.max(0, needed - seen.run) : 0,
    difference: { from: slot.from, to: slot.to, part: slot.part, lines },
  };
}

function neededRun({ flickers, values }: Slot, { confirm, learnNoise }: ChangeRules): number {
  if (!learnNoise) return confirm;
  const unsteady = values.filter(({ isSteady }) => !isSteady).length;
  return confirm + 2 * Math.min(flickers, MOST_COUNTED_FLICKERS) + Math.max(0, unsteady - 1);
}

/** The slot after one more check, which saw this content there. */
function observe(slot: Slot, id: string, lines: number, check: number, rules: ChangeRules): Slot {
  const isSame = id === slot.last;
  const run = isSame ? slot.run + 1 : 1;
  const hasFlickered = !isSame && slot.run < steadyRun(rules);
  const isCalm = run % CALM_CHECKS === 0;
  const flickers = isCalm ? Math.floor(slot.flickers / 2) : slot.flickers + Number(hasFlickered);
  const known = slot.values.find((each) => each.id === id);
  const seen: SlotValue = {
    id,
    seen: (known?.seen ?? 0) + 1,
    firstCheck: known?.firstCheck ?? check,
    isLate: known?.isLate ?? check - slot.newAtCheck >= SETTLED_CHECKS,
    isTold: known?.isTold ?? false,
    isSteady: (known?.isSteady ?? false) || run >= steadyRun(rules),
    lines,
  };
  const values = [...slot.values.filter((each) => each.id !== id), seen];
  const unsteady = values.filter(({ isSteady }) => !isSteady).length;
  return {
    ...slot,
    last: id,
    run,
    flickers,
    isNoise: slot.isNoise || (rules.learnNoise && unsteady >= NOISE_CONTENTS),
    values: values.slice(-MOST_VALUES),
    newAtCheck: known === undefined ? check : slot.newAtCheck,
  };
}

/** The slots of a baseline in which the differences have become part of it. Those that they have covered are gone. */
export function movedSlots(
  slots: readonly Slot[],
  applied: readonly Difference[],
  baseline: readonly string[],
): readonly Slot[] {
  const shiftAt = (line: number) =>
    applied.reduce(
      (sum, { from, to, part, lines }) =>
        part === null && to <= line && !(from === to && to === line) ? sum + lines.length - (to - from) : sum,
      0,
    );
  return slots.flatMap((slot) => {
    const from = slot.from + shiftAt(slot.from);
    const own = applied.find((each) => isSamePlace(each, slot));
    if (own === undefined) {
      if (applied.some((each) => overlaps(each, slot))) return [];
      return [{ ...slot, from, to: slot.to + from - slot.from }];
    }
    const to = slot.part === null ? from + own.lines.length : from + 1;
    return [{ ...rebased(slot, own.lines, baseLines(slot, baseline)), from, to }];
  });
}

/** The slot whose present content is the baseline from now on. */
function rebased(slot: Slot, lines: readonly string[], former: readonly string[]): Slot {
  const formerId = contentId(slot.part, former, lines);
  const values = slot.values.flatMap((value) => {
    if (value.id === slot.last) return [{ ...value, id: BASE, isTold: true, isSteady: true }];
    return value.id === BASE ? [{ ...value, id: formerId }] : value.id === formerId ? [] : [value];
  });
  return { ...slot, last: BASE, values };
}
