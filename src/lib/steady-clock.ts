import { uptime } from 'node:os';

/** What this machine's clocks say, in milliseconds. */
export interface MachineClocks {
  /** Never set by anyone; stands still while the machine is suspended. */
  readonly monotonicMs: () => number;
  /** The time of day: people and time servers set it, forward and back. */
  readonly wallMs: () => number;
  /** Since the machine was started, suspensions included; never set. May be as coarse as a second. */
  readonly sinceBootMs: () => number;
}

/**
 * The clock of one process. It is right when it is opened, and from then on a wall clock that is set forward or back
 * changes nothing: the monotonic clock carries it on, and suspensions are added.
 */
export interface SteadyClock {
  /** The current time in epoch milliseconds. */
  readonly now: () => number;
  /**
   * Milliseconds since some moment, at least as many as have passed: a jump of the wall clock forward counts as time
   * that has passed, because it may have been a suspension, of this machine or of the host it is a guest of. For
   * code that must have stopped by a time and may stop early.
   */
  readonly cautiousMs: () => number;
  /** Calls the listener when the wall clock has jumped, either way; returns what ends that. */
  onJump(listener: () => void): () => void;
}

/** The two clocks of a machine that is not suspended and not set differ by less: by how they round. */
const JUMP_MS = 500;
/** Above how coarse the clock since boot is. */
const SUSPENDED_MS = 1_500;

/** When two clocks are read further apart than this, the process was held up and their difference means nothing. */
const HELD_UP_MS = 50;

const MACHINE_CLOCKS: MachineClocks = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  sinceBootMs: () => uptime() * 1_000,
};

export function createSteadyClock(clocks: MachineClocks = MACHINE_CLOCKS): SteadyClock {
  const listeners = new Set<() => void>();
  /** Offset of the wall clock from the monotonic clock, as long as neither jumps. */
  let wallAheadMs = clocks.wallMs() - clocks.monotonicMs();
  /** How far this clock is ahead, which follows suspensions only. */
  let nowAheadMs = wallAheadMs;
  let cautionMs = 0;
  let bootAheadMs = clocks.sinceBootMs() - clocks.monotonicMs();

  /** Returns the monotonic time; notices first when the wall clock has jumped since it was last asked. */
  function look(): number {
    const monotonicMs = clocks.monotonicMs();
    const isSteady = Math.abs(clocks.wallMs() - monotonicMs - wallAheadMs) < JUMP_MS;
    return isSteady ? monotonicMs : notice();
  }

  function notice(): number {
    const { monotonicMs, wallMs, sinceBootMs } = readTogether(clocks);
    const jumpMs = wallMs - monotonicMs - wallAheadMs;
    if (Math.abs(jumpMs) < JUMP_MS) return monotonicMs;
    wallAheadMs += jumpMs;
    if (jumpMs > 0) cautionMs += jumpMs;
    const suspendedMs = sinceBootMs - monotonicMs - bootAheadMs;
    if (suspendedMs > SUSPENDED_MS) {
      bootAheadMs += suspendedMs;
      nowAheadMs += suspendedMs;
    }
    for (const listener of listeners) listener();
    return monotonicMs;
  }

  return {
    now: () => Math.round(look() + nowAheadMs),
    cautiousMs: () => look() + cautionMs,
    onJump(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The three at one moment: a process that the system held up between two readings reads again. */
function readTogether(clocks: MachineClocks) {
  for (;;) {
    const monotonicMs = clocks.monotonicMs();
    const [wallMs, sinceBootMs] = [clocks.wallMs(), clocks.sinceBootMs()];
    if (clocks.monotonicMs() - monotonicMs < HELD_UP_MS) return { monotonicMs, wallMs, sinceBootMs };
  }
}
