import type { ActionRecord, History } from './history.ts';

/** Something that must not be, in words. */
export interface Violation {
  /** Which promise is broken, e.g. `rate`. */
  readonly check: string;
  readonly what: string;
}

/** Turns times into words: seconds since the job was created, and what was done to the fleet around then. */
export interface Evidence {
  at(time: number): string;
  near(time: number): string;
}

const BEFORE_MS = 10_000;
const AFTER_MS = 2_000;

export function evidenceOf({ job, actions }: Pick<History, 'job' | 'actions'>): Evidence {
  const seconds = (time: number) => `${((time - job.createdAt) / 1_000).toFixed(3)} s`;
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
