import type { Bus, KnownProcess, Messages } from '../core/ports/bus.ts';
import { VERSION } from '../version.ts';

export interface ProcessSharing {
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
