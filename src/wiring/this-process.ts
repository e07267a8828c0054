import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';
import type { Metrics } from '../core/observe/metrics.ts';
import { createSteadyClock, type SteadyClock } from '../lib/steady-clock.ts';
import { DUTIES, type Duties } from './roles.ts';

/** The process that is being opened, as every step of that knows it. */
export interface ThisProcess {
  /** The settings as they were given: without the keys of the vault, which the store may have to tell. */
  readonly given: Settings;
  readonly duties: Duties;
  /** Others may work on the same store. */
  readonly isShared: boolean;
  /** Names this process among the owners of hosts. */
  readonly owner: string;
  readonly clock: SteadyClock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly closers: Closers;
}

export function thisProcess(given: Settings, logger: Logger, metrics: Metrics): ThisProcess {
  const isShared = given.databaseUrl !== undefined;
  return {
    ...{ given, isShared, logger, metrics },
    duties: DUTIES[given.role],
    owner: `${hostname()}:${process.pid}:${randomUUID().slice(0, 8)}`,
    clock: createSteadyClock(),
    closers: createClosers(isShared),
  };
}

/** What a process has open, and how it is closed, also when opening fails half-way: first users, then the places they use. */
export interface Closers extends Record<Stage, (() => unknown)[]> {
  /** Closes all that is open by then, one stage after the other. */
  closeAll(): Promise<void>;
}

type Stage = 'users' | 'places' | 'last';

/** For all that is open on servers: one that hangs must not keep the process from ending. */
const CLOSE_MS = 3_000;

/** `isShared`: some of it is on servers. */
function createClosers(isShared: boolean): Closers {
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
