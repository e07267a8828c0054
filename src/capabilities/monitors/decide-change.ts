import { hash } from 'node:crypto';
import type {
  ChangeKind,
  ChangeRules,
  Doubt,
  PageSource,
  PageState,
  WatchedContent,
} from '../../core/model/monitor.ts';
import { appliedContent, appliedLines, type Comparison, compareLines, steadyLines } from './compare-lines.ts';
import { movedSlots, readSlots } from './slots.ts';
import { isContentLine } from './watched-lines.ts';

/** What one check saw of one URL. */
export type Observation =
  | {
      readonly kind: 'content';
      readonly content: WatchedContent;
      readonly title: string | null;
      readonly source: PageSource | null;
    }
  /** gone: the host says that there is no such page. missing: a crawl that covered the site did not come across it. */
  | { readonly kind: 'gone' | 'missing'; readonly at: number }
  /** Whatever says nothing about the page: an error, a block, a CAPTCHA, a page to log in. */
  | { readonly kind: 'failed'; readonly at: number; readonly reason: string };

export interface PageChange {
  readonly kind: ChangeKind;
  /** The watched content that was reported last, and the current one. They differ. */
  readonly before: readonly string[];
  readonly after: readonly string[];
  readonly title: string | null;
  readonly source: PageSource | null;
  readonly formerSource: PageSource | null;
}

export interface Decision {
  /** Null when nothing of the URL is remembered any more. */
  readonly state: PageState | null;
  readonly change: PageChange | null;
  /** The failure of the page has lasted for long enough, or is over after it was reported. */
  readonly trouble: 'failed' | 'recovered' | null;
  readonly reason: string;
  /** Another look at the page soon would help to decide. */
  readonly needsRecheck: boolean;
}

/**
 * Whether a change is large enough to be reported. The first content is the one that was reported last, so that small
 * steps add up.
 */
export type IsWorthTelling = (before: readonly string[], after: readonly string[]) => boolean;

/** Fewer lines cannot be told to be those of another page. */
const LEAST_LINES = 4;
/** A page of which a smaller part of the lines is left is almost wholly another. */
const LEAST_KEPT = 0.35;
/** A quarter of the lines is gone and next to nothing came in their place: maybe only a part of the page was loaded. */
const MOST_LOST = 0.25;
const REPLACED_LINES = 0.1;
const LEAST_CUT_LINES = 2;
const GONE_CHECKS = 2;
/**
 * Looks that are still worth while: a slot that needs more will have them by the schedule. A page that differs at one of
 * its first looks needs five more.
 */
const MOST_RECHECKS = 5;
const MOST_FORMER = 20;
const NOT_COMPARABLE = 'not-comparable';

export const EMPTY_STATE: PageState = {
  baseline: null,
  title: null,
  source: null,
  checks: 0,
  since: 0,
  slots: [],
  former: [],
  doubt: null,
  trouble: null,
  isNew: false,
  isSettled: false,
};

/**
 * Decides what a check means for a page. `state` is what was remembered after the check before; `EMPTY_STATE` before
 * the first, with `isNew` for a page that was not there when the monitor began.
 */
export function decideChange(
  state: PageState,
  observation: Observation,
  rules: ChangeRules,
  isWorthTelling: IsWorthTelling = () => true,
): Decision {
  if (observation.kind === 'failed') return decideFailure(state, observation, rules);
  if (observation.kind !== 'content') return decideAbsence(state, observation, rules);
  const { trouble, ...rest } = state;
  const recovered = trouble?.isTold === true ? 'recovered' : null;
  const decision = decideContent(
    { ...rest, trouble: null, isSettled: false },
    observation,
    rules,
    isWorthTelling,
  );
  // Neither the baseline nor the last look has enough in common with it: nothing can be told about such a page.
  if (decision.reason === NOT_COMPARABLE && decision.state !== null) {
    const failure = { at: observation.content.at, reason: NOT_COMPARABLE };
    return decideFailure({ ...decision.state, trouble }, failure, rules);
  }
  return { ...decision, trouble: recovered };
}

function decideFailure(
  state: PageState,
  { at, reason }: { readonly at: number; readonly reason: string },
  { failAfter }: ChangeRules,
): Decision {
  const checks = (state.trouble?.checks ?? 0) + 1;
  const isTold = state.trouble?.isTold ?? false;
  const isDue = !isTold && checks >= failAfter;
  const trouble = { since: state.trouble?.since ?? at, checks, reason, isTold: isTold || isDue };
  return {
    state: { ...state, trouble, isSettled: false },
    change: null,
    trouble: isDue ? 'failed' : null,
    reason: `failed: ${reason}`,
    needsRecheck: false,
  };
}

function decideAbsence(
  state: PageState,
  { kind, at }: { readonly kind: 'gone' | 'missing'; readonly at: number },
  { settleMs }: ChangeRules,
): Decision {
  const quiet = { change: null, trouble: null, needsRecheck: false } as const;
  // What was never reported need not be taken back.
  if (state.baseline === null || state.isNew) {
    const isKept = state.former.length > 0 && state.baseline === null;
    return { ...quiet, state: isKept ? state : null, reason: kind };
  }
  const doubt = doubted(state.doubt, 'gone', at, null, kind);
  if (doubt.checks < GONE_CHECKS || at - doubt.since < settleMs) {
    return {
      ...quiet,
      state: { ...state, doubt, isSettled: false },
      reason: `${kind}: not for long enough`,
    };
  }
  const { baseline, source, title } = state;
  return {
    ...quiet,
    state: {
      ...EMPTY_STATE,
      former: formerWith(state, state),
      isNew: true,
    },
    change: { kind: 'REMOVED', before: baseline.lines, after: [], title, source: null, formerSource: source },
    reason: kind,
  };
}

/** The doubt with one more check; another one begins anew. A page that is gone may be missing as well. */
function doubted(
  doubt: Doubt | null,
  family: 'gone' | 'other',
  at: number,
  content: WatchedContent | null,
  kind: Doubt['kind'],
): Doubt {
  const isSame =
    doubt !== null && (doubt.kind === 'gone' || doubt.kind === 'missing') === (family === 'gone');
  return isSame
    ? { ...doubt, kind, checks: doubt.checks + 1, content }
    : { kind, since: at, checks: 1, content };
}

type Content = Extract<Observation, { kind: 'content' }>;

function decideContent(
  state: PageState,
  { content, title, source }: Content,
  rules: ChangeRules,
  isWorthTelling: IsWorthTelling,
): Decision {
  const { baseline } = state;
  const quiet = { change: null, trouble: null } as const;
  if (baseline === null) {
    const first = { ...state, baseline: content, title, source, checks: 1, since: content.at, doubt: null };
    if (state.isNew && rules.confirm <= 1) return added(first, content, title, source);
    return { ...quiet, state: first, reason: 'baseline', needsRecheck: state.isNew };
  }
  const checks = state.checks + 1;
  const comparison = compareLines(baseline, content, state.slots, rules.learnNoise);
  const doubtKind = doubtOf(baseline, content, comparison);
  if (doubtKind !== null || comparison === null) {
    const doubt = doubted(state.doubt, 'other', content.at, content, doubtKind ?? 'other');
    return decideDoubt({ ...state, checks }, { content, title, source }, doubt, rules);
  }
  const readings = readSlots(state.slots, baseline.lines, comparison.differences, checks, rules);
  const slots = readings.map(({ slot }) => slot);
  const seen: PageState = { ...state, checks, slots, doubt: null, title: title ?? state.title };
  if (state.isNew && checks >= rules.confirm) {
    return added({ ...seen, baseline: content, slots: [] }, content, title, source);
  }
  const settled = readings.filter(({ isConfirmed }) => isConfirmed);
  const isOpen = readings.some(
    ({ isDeviating, isConfirmed, missingChecks }) =>
      isDeviating && !isConfirmed && missingChecks <= MOST_RECHECKS,
  );
  const needsRecheck = state.isNew || isOpen;
  if (settled.length === 0) {
    const reason = slots.some(({ isNoise }) => isNoise) ? 'the same but for noise' : 'the same';
    const isSame = comparison.differences.length === 0;
    return {
      ...quiet,
      state: {
        ...seen,
        ...(isSame ? { source: source ?? state.source } : {}),
        isSettled: isSame && !needsRecheck && slots.length === 0,
      },
      reason: isOpen ? 'not confirmed yet' : reason,
      needsRecheck,
    };
  }
  const told = settled.filter(({ isKnown }) => !isKnown);
  const applied = settled.map(({ difference }) => difference);
  const before = baseline.lines;
  const toldLines = appliedLines(
    before,
    told.map(({ difference }) => difference),
  );
  const moved: PageState = {
    ...seen,
    baseline: appliedContent(baseline, applied, content.at),
    slots: movedSlots(slots, applied, baseline.lines),
    source: source ?? state.source,
  };
  if (told.length === 0 || toldLines.join('\n') === before.join('\n')) {
    return { ...quiet, state: moved, reason: 'a known variant', needsRecheck };
  }
  if (!isWorthTelling(before, toldLines)) {
    return {
      ...quiet,
      state: seen,
      reason: 'below the threshold',
      needsRecheck: false,
    };
  }
  return {
    state: { ...moved, former: formerWith(state, seen) },
    change: {
      kind: told.every(({ wasTold }) => wasTold) ? 'REVERTED' : kindOf(state, moved),
      before,
      after: toldLines,
      title,
      source,
      formerSource: state.source,
    },
    trouble: null,
    reason: 'confirmed',
    needsRecheck: isOpen,
  };
}

/** Why the content may be none of the page; null when it may well be. */
function doubtOf(
  baseline: WatchedContent,
  { lines }: WatchedContent,
  comparison: Comparison | null,
): 'other' | 'empty' | null {
  const total = baseline.lines.length;
  if (!lines.some(isContentLine)) return baseline.lines.some(isContentLine) ? 'empty' : null;
  if (comparison === null) return 'other';
  if (total < LEAST_LINES) return null;
  const { keptShare, removedLines, addedLines } = comparison;
  const isLoss = removedLines >= MOST_LOST * total && addedLines <= 1 + REPLACED_LINES * removedLines;
  return keptShare < LEAST_KEPT || isLoss || isCutOff(comparison, total) ? 'other' : null;
}

/** The end of the page is missing, maybe with a line that ends in the middle: it was not loaded to its end. */
const isCutOff = ({ differences }: Comparison, total: number): boolean =>
  differences.some(
    ({ from, to, part, lines }) =>
      part === null && to === total && to - from >= LEAST_CUT_LINES && lines.length <= 1,
  );

/** A page that seems to be another is reported when it has stayed so for long, and is the same at two checks in a row. */
function decideDoubt(
  state: PageState,
  { content, title, source }: Omit<Content, 'kind'>,
  doubt: Doubt,
  rules: ChangeRules,
): Decision {
  const { baseline } = state;
  const quiet = { change: null, trouble: null, needsRecheck: false } as const;
  const former = state.doubt?.content ?? null;
  const sinceLast = former === null ? null : compareLines(former, content, [], rules.learnNoise);
  const isAlike = former !== null && doubtOf(former, content, sinceLast) === null;
  const isComparable = former === null || sinceLast !== null;
  const isLong =
    doubt.checks >= Math.max(GONE_CHECKS, rules.confirm) && content.at - doubt.since >= rules.settleMs;
  if (baseline === null || !isAlike || !isLong) {
    return {
      ...quiet,
      state: { ...state, doubt },
      reason: isComparable ? `doubtful: ${doubt.kind}` : NOT_COMPARABLE,
      needsRecheck: false,
    };
  }
  const fresh: PageState = {
    ...state,
    baseline: content,
    title,
    source,
    checks: 1,
    since: content.at,
    slots: [],
    doubt: null,
  };
  if (state.isNew) return { ...quiet, state: fresh, reason: 'not told yet', needsRecheck: true };
  return {
    state: { ...fresh, former: formerWith(state, state) },
    change: {
      kind: kindOf(state, fresh),
      before: baseline.lines,
      after: content.lines,
      title,
      source,
      formerSource: state.source,
    },
    trouble: null,
    reason: `${doubt.kind} for long enough`,
    needsRecheck: false,
  };
}

function added(
  state: PageState,
  content: WatchedContent,
  title: string | null,
  source: PageSource | null,
): Decision {
  return {
    state: { ...state, isNew: false },
    change: { kind: 'ADDED', before: [], after: content.lines, title, source, formerSource: null },
    trouble: null,
    reason: 'added',
    needsRecheck: false,
  };
}

const kindOf = ({ former }: PageState, now: PageState): ChangeKind =>
  former.includes(fingerprintOf(now)) ? 'REVERTED' : 'MODIFIED';

/** The former baselines, with the one that is left now. */
function formerWith({ former }: PageState, left: PageState): readonly string[] {
  const own = fingerprintOf(left);
  return [...former.filter((each) => each !== own), own].slice(-MOST_FORMER);
}

/** A hash of the baseline without what is noise and without times. */
export const fingerprintOf = ({ baseline, slots }: Pick<PageState, 'baseline' | 'slots'>): string =>
  hash('sha256', steadyLines(baseline?.lines ?? [], slots).join('\n'), 'hex').slice(0, 32);
