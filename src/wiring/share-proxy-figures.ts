import type { Bus } from '../core/ports/bus.ts';
import {
  mergeFigures,
  type PoolFigures,
  readFigures,
  writeFigures,
} from '../crawl/plan/proxies/fleet-figures.ts';

export interface ProxyFigureSharing {
  /** Figures of this process and of those that were heard of lately; null when none of them uses proxies. */
  figures(): PoolFigures | null;
  /** Publishes what has changed, and everything now and then for processes that have just started. */
  tell(): void;
  close(): void;
}

export interface ProxyFigureSharingParts {
  readonly bus: Bus;
  /** The name of this process. */
  readonly process: string;
  /** Figures of this process; null when it uses no proxies. */
  readonly own: () => PoolFigures | null;
  readonly now: () => number;
}

const TELL_EVERY_MS = 5_000;
/** A process that has done nothing meanwhile is announced again after this. */
const REPEAT_MS = 30_000;
/** A process that was not heard of for longer has ended. */
const KEPT_MS = 90_000;
const MOST_PROCESSES = 1_000;

/** Lets each process of a fleet answer for the proxies of all, until it is closed. */
export function shareProxyFigures(parts: ProxyFigureSharingParts): ProxyFigureSharing {
  const { bus, process, own, now } = parts;
  /** Figures of other processes, at most MOST_PROCESSES of them. */
  const heard = new Map<string, { readonly figures: PoolFigures; readonly at: number }>();
  let told = '';
  let toldAt = Number.NEGATIVE_INFINITY;
  const unsubscribe = bus.subscribe('proxy.figures', (message) => {
    if (message.process === process) return;
    for (const [name, { at }] of heard) if (now() - at >= KEPT_MS) heard.delete(name);
    const figures = heard.size < MOST_PROCESSES ? readFigures(message.figures) : null;
    if (figures !== null) heard.set(message.process, { figures, at: now() });
  });
  const tell = (): void => {
    const figures = own();
    if (figures === null) return;
    const text = writeFigures(figures);
    if (text === told && now() - toldAt < REPEAT_MS) return;
    told = text;
    toldAt = now();
    bus.publish('proxy.figures', { process, figures: text });
  };
  const timer = setInterval(tell, TELL_EVERY_MS).unref();
  return {
    figures() {
      const mine = own();
      const others = [...heard.values()]
        .filter(({ at }) => now() - at < KEPT_MS)
        .map(({ figures }) => figures);
      return mergeFigures(mine === null ? others : [mine, ...others]);
    },
    tell,
    close() {
      clearInterval(timer);
      unsubscribe();
    },
  };
}
