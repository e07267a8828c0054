import { type Evidence, isServer, overlaps, type Violation } from './evidence.ts';
import type { ActionRecord, ExitRecord, History, LeftoverRecord, MemoryRecord } from './history.ts';

/** The process ended after all its work. */
const DONE = 0;
/** This installation cannot work as it is: a server that it needs is away. */
const CANNOT_WORK = 5;
/** How V8 ends a process whose heap is full, and the system one that is told to abort. */
const ABORTED: readonly (number | string | null)[] = ['SIGABRT', 'SIGTRAP', 'SIGILL', 133, 134];
/** A process that is told to stop has so long. */
const STOPPING_MS = 20_000;
/** What one may have more in the end than in the beginning. */
const MOST_GROWTH_BYTES = 400 * 1_048_576;

/** Processes end as the documentation says, and none grows without end. */
export function checkProcesses({ exits, actions, memory }: History, { at, near }: Evidence): Violation[] {
  const wrong = exits
    .filter((exit) => !isDocumented(exit, actions))
    .map((exit) => {
      const why = exit.asked === null ? 'by itself' : `when told to ${exit.asked}`;
      const how = exit.signal ?? `exit code ${exit.code}`;
      const what = `${exit.process} ended ${why} with ${how} at ${at(exit.at)}`;
      return { check: 'exit', what: `${what}; ${near(exit.at)}` };
    });
  const grown = growthOf(memory)
    .filter(({ firstBytes, lastBytes }) => lastBytes > firstBytes + MOST_GROWTH_BYTES)
    .map(({ process, firstBytes, lastBytes }) => ({
      check: 'memory',
      what: `${process} had ${mebibytes(firstBytes)} MiB in the beginning and ${mebibytes(lastBytes)} MiB in the end`,
    }));
  return [...wrong, ...grown];
}

function isDocumented(
  { process, at, startedAt, code, signal, asked }: ExitRecord,
  actions: readonly ActionRecord[],
) {
  const during = (from: number, test: (action: ActionRecord) => boolean) =>
    actions.some((action) => test(action) && overlaps(action, { from, until: at }));
  if (asked === 'kill') return signal === 'SIGKILL';
  const isHurt = (action: ActionRecord) => isServer(action) || action.target === process;
  if (asked === 'stop') {
    return code === DONE || (code === CANNOT_WORK && during(at - STOPPING_MS, isHurt));
  }
  if (ABORTED.includes(signal) || ABORTED.includes(code)) {
    return during(at, ({ kind, target }) => target === process && (kind === 'abort' || kind === 'heap full'));
  }
  // The process could not start, because a server was away.
  return code === CANNOT_WORK && during(startedAt, isHurt);
}

export interface Growth {
  readonly process: string;
  readonly firstBytes: number;
  readonly lastBytes: number;
}

/** The first and the last measurement of every process. */
export function growthOf(memory: readonly MemoryRecord[]): Growth[] {
  return [...Map.groupBy(memory, ({ process }) => process)].map(([process, records]) => ({
    process,
    firstBytes: records[0]?.rssBytes ?? 0,
    lastBytes: records.at(-1)?.rssBytes ?? 0,
  }));
}

export const mebibytes = (bytes: number) => Math.round(bytes / 1_048_576);

export function checkLeftovers(leftovers: readonly LeftoverRecord[]): Violation[] {
  return leftovers.map(({ place, what, count, examples }) => ({
    check: 'left behind',
    what: `${place} still has ${count} × ${what} ${examples.join(', ')}`.trimEnd(),
  }));
}
