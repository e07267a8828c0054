import { setTimeout as delay } from 'node:timers/promises';

/** What a process has open, and how it is closed, also when opening fails half-way: first users, then the places they use. */
export interface Closers extends Record<Stage, (() => unknown)[]> {
  /** Closes all that is open by then, one stage after the other. */
  closeAll(): Promise<void>;
}

type Stage = 'users' | 'places' | 'last';

/** For all that is open on servers: one that hangs must not keep the process from ending. */
const CLOSE_MS = 3_000;

/** `isShared`: some of it is on servers. */
export function createClosers(isShared: boolean): Closers {
  const stages: Record<Stage, (() => unknown)[]> = { users: [], places: [], last: [] };
  return {
    ...stages,
    async closeAll() {
      for (const stage of [stages.users, stages.places]) {
        // In parallel, because none of one stage needs another of it.
        const closed = Promise.all(stage.splice(0).map(async (close) => close()));
        await (isShared ? Promise.race([closed, delay(CLOSE_MS / 2, undefined, { ref: false })]) : closed);
      }
      for (const close of stages.last.splice(0)) await close();
    },
  };
}
