import type { Bus, KnownProcess, Messages } from '../core/ports/bus.ts';
import {
  mergeFigures,
  type PoolFigures,
  readFigures,
  writeFigures,
} from '../crawl/plan/proxies/fleet-figures.ts';
import { VERSION } from '../version.ts';

/** This process among those of its installation. */
interface OwnProcess {
  readonly bus: Bus;
  /** The name of this process. */
  readonly process: string;
  readonly now: () => number;
}

const MOST_PROCESSES = 1_000;

/** What other processes of a topic have said last; one that was silent for `keptMs` has ended. `read` may refuse a message with null. */
function hearOthers<Name extends 'process.alive' | 'proxy.figures', Heard>(
  { bus, process, now }: OwnProcess,
  topic: Name,
  keptMs: number,
  read: (message: Messages[Name]) => Heard | null,
) {
  /** The last message of each process, at most MOST_PROCESSES. */
  const heard = new Map<string, { readonly said: Heard; readonly at: number }>();
  const forgetSilent = () => {
    for (const [name, { at }] of heard) if (now() - at >= keptMs) heard.delete(name);
  };
  const unsubscribe = bus.subscribe(topic, (message) => {
    if (message.process === process) return;
    forgetSilent();
    const said = heard.size < MOST_PROCESSES ? read(message) : null;
    if (said !== null) heard.set(message.process, { said, at: now() });
  });
  return {
    all(): readonly Heard[] {
      forgetSilent();
      return [...heard.values()].map(({ said }) => said);
    },
    unsubscribe,
  };
}

interface ProcessSharing {
  /** This process first, then those that were heard of lately. */
  processes(): readonly KnownProcess[];
  close(): void;
}

const ALIVE_EVERY_MS = 10_000;
const ALIVE_KEPT_MS = 35_000;

/** Lets each process of a fleet know the others, until it is closed. */
export function shareProcesses(parts: OwnProcess & { readonly role: string }): ProcessSharing {
  const { bus, process, role, now } = parts;
  const own: Messages['process.alive'] = { process, role, version: VERSION, startedAt: now() };
  const others = hearOthers(parts, 'process.alive', ALIVE_KEPT_MS, (message) => ({
    ...message,
    heardAt: now(),
  }));
  const tell = () => bus.publish('process.alive', own);
  const timer = setInterval(tell, ALIVE_EVERY_MS).unref();
  tell();
  return {
    processes: () => [
      { ...own, heardAt: now() },
      ...[...others.all()].sort((a, b) => (a.process < b.process ? -1 : 1)),
    ],
    close() {
      clearInterval(timer);
      others.unsubscribe();
    },
  };
}

interface ProxyFigureSharing {
  /** Figures of this process and of those that were heard of lately; null when none of them uses proxies. */
  figures(): PoolFigures | null;
  /** Publishes what has changed, and everything now and then for processes that have just started. */
  tell(): void;
  close(): void;
}

const FIGURES_EVERY_MS = 5_000;
/** A process that has done nothing meanwhile is announced again after this. */
const FIGURES_AGAIN_MS = 30_000;
const FIGURES_KEPT_MS = 90_000;

/** Lets each process of a fleet answer for the proxies of all, until it is closed. `own`: figures of this process; null when it uses no proxies. */
export function shareProxyFigures(
  parts: OwnProcess & { readonly own: () => PoolFigures | null },
): ProxyFigureSharing {
  const { bus, process, own, now } = parts;
  const others = hearOthers(parts, 'proxy.figures', FIGURES_KEPT_MS, ({ figures }) => readFigures(figures));
  let told = '';
  let toldAt = Number.NEGATIVE_INFINITY;
  const tell = (): void => {
    const figures = own();
    if (figures === null) return;
    const text = writeFigures(figures);
    if (text === told && now() - toldAt < FIGURES_AGAIN_MS) return;
    told = text;
    toldAt = now();
    bus.publish('proxy.figures', { process, figures: text });
  };
  const timer = setInterval(tell, FIGURES_EVERY_MS).unref();
  return {
    figures() {
      const mine = own();
      return mergeFigures(mine === null ? others.all() : [mine, ...others.all()]);
    },
    tell,
    close() {
      clearInterval(timer);
      others.unsubscribe();
    },
  };
}
