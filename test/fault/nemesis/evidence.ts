import type { ActionRecord, History } from './history.ts';

/** Something that must not be, in words. */
export interface Violation {
  /** Which promise is broken, e.g. `rate`. */
  readonly check: string;
  readonly what: string;
}

/** Turns times into words: seconds since the run began, and what was done to the fleet around then. */
export interface Evidence {
  at(time: number): string;
  near(time: number): string;
}

const BEFORE_MS = 10_000;
const AFTER_MS = 2_000;

export function evidenceOf({ expected, actions }: Pick<History, 'expected' | 'actions'>): Evidence {
  const seconds = (time: number) => `${((time - expected.startedAt) / 1_000).toFixed(3)} s`;
  const told = ({ kind, target, from, until }: ActionRecord) =>
    `${kind} ${target} from ${seconds(from)} to ${seconds(until)}`;
  return {
    at: seconds,
    near(time) {
      const around = actions.filter(
        ({ from, until }) => from - AFTER_MS <= time && time <= until + BEFORE_MS,
      );
      return around.length === 0 ? 'no fault near' : `near: ${around.map(told).join('; ')}`;
    },
  };
}

export interface Span {
  readonly from: number;
  readonly until: number;
}

export const overlapMs = (a: Span, b: Span) =>
  Math.max(0, Math.min(a.until, b.until) - Math.max(a.from, b.from));

export const overlaps = (a: Span, b: Span) => a.from <= b.until && b.from <= a.until;

/** The spans without their overlaps, in order. */
export function joined(spans: readonly Span[]): Span[] {
  const whole: Span[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const last = whole.at(-1);
    if (last === undefined || last.until < span.from) whole.push({ from: span.from, until: span.until });
    else if (last.until < span.until) whole[whole.length - 1] = { from: last.from, until: span.until };
  }
  return whole;
}

const SERVERS = new Set(['postgres', 'redis', 's3']);

export const isServer = ({ target }: Pick<ActionRecord, 'target'>) => SERVERS.has(target);

/** When the store went back in time: what was committed within is forgotten. */
export const forgottenIn = (actions: readonly ActionRecord[], span: Span): boolean =>
  actions.some((action) => action.forgets === true && overlaps(action, span));
