import { missingOfFleet } from '../core/config/setting-conflicts.ts';
import { environmentName, type Role } from '../core/config/settings.ts';
import { ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { Bus, KnownProcess, Messages } from '../core/ports/bus.ts';
import { VERSION } from '../version.ts';

/** What a process does, by its role. */
export interface Duties {
  /** Answers the API; every role answers the questions about its own health. */
  readonly api: boolean;
  /** Owns hosts and fetches their pages. */
  readonly crawl: boolean;
  /** What goes on beside requests and crawls: ends of jobs, lost offers, schedules, webhooks, exports, readers, backups, cleanups. */
  readonly schedule: boolean;
  /** Answers renders of this kind; null: none. */
  readonly render: 'browser' | 'stealth' | null;
}

const NONE: Duties = { api: false, crawl: false, schedule: false, render: null };

export const DUTIES: Readonly<Record<Role, Duties>> = {
  all: { api: true, crawl: true, schedule: true, render: null },
  api: { ...NONE, api: true },
  'http-worker': { ...NONE, crawl: true },
  'browser-worker': { ...NONE, render: 'browser' },
  'stealth-worker': { ...NONE, render: 'stealth' },
  scheduler: { ...NONE, schedule: true },
};

/** Refuses settings that cannot be right together. */
export function refuseIncompleteFleet(settings: Parameters<typeof missingOfFleet>[0]): void {
  const missing = missingOfFleet(settings);
  if (missing.length === 0) return;
  const told = missing.map(({ name, problem }) => `${environmentName(name)} ${problem}`).join('; ');
  throw new ScrapifieError('INVALID_SETTINGS', `${told}.`, {
    details: missing,
  });
}

interface ProcessSharing {
  /** This process first, then those that were heard of lately. */
  processes(): readonly KnownProcess[];
  close(): void;
}

const TELL_EVERY_MS = 10_000;
/** A process that was not heard of for longer has ended. */
const KEPT_MS = 35_000;
const MOST_PROCESSES = 1_000;

/** Lets each process of a fleet know the others, until it is closed. */
export function shareProcesses(parts: {
  readonly bus: Bus;
  /** The name of this process. */
  readonly process: string;
  readonly role: string;
  readonly now: () => number;
}): ProcessSharing {
  const { bus, process, role, now } = parts;
  const own: Messages['process.alive'] = { process, role, version: VERSION, startedAt: now() };
  /** Processes that were heard of lately, at most MOST_PROCESSES. */
  const heard = new Map<string, KnownProcess>();
  const forgetOld = () => {
    for (const [name, { heardAt }] of heard) if (now() - heardAt >= KEPT_MS) heard.delete(name);
  };
  const unsubscribe = bus.subscribe('process.alive', (message) => {
    if (message.process === process) return;
    forgetOld();
    if (heard.size < MOST_PROCESSES) heard.set(message.process, { ...message, heardAt: now() });
  });
  const tell = () => bus.publish('process.alive', own);
  const timer = setInterval(tell, TELL_EVERY_MS).unref();
  tell();
  return {
    processes() {
      forgetOld();
      const others = [...heard.values()].sort((a, b) => (a.process < b.process ? -1 : 1));
      return [{ ...own, heardAt: now() }, ...others];
    },
    close() {
      clearInterval(timer);
      unsubscribe();
    },
  };
}
