import { guarded } from '../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
import { noFreeWorker } from '../core/ports/queue.ts';
import type { Engine, FetchRequest } from './engine.ts';

/**
 * Engines that share a number of places. A request waits for one before the attempt's time begins, because how busy the
 * browsers are says nothing about the site, and ends with BROWSERS_BUSY when none is free within `waitMs`.
 */
export function limitConcurrency<Name extends string>(
  engines: Readonly<Record<Name, Engine>>,
  places: number,
  waitMs: number,
): Readonly<Record<Name, Engine>> {
  let free = places;
  /** In order of arrival; bounded by the fetches of the process. */
  const waiting = new Set<() => void>();

  async function take({ signal }: FetchRequest): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = guarded(() => {
      waiting.delete(resolve);
      reject(cancelled(signal?.reason));
    });
    if (signal?.aborted === true) throw cancelled(signal.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    waiting.add(resolve);
    const timer = setTimeout(() => {
      if (waiting.delete(resolve)) reject(noFreeWorker(waitMs));
    }, waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  function give(): void {
    const [first] = waiting;
    if (first === undefined) free += 1;
    else {
      waiting.delete(first);
      first();
    }
  }

  const limited = (engine: Engine): Engine => ({
    name: engine.name,
    async fetch(request) {
      await take(request);
      try {
        return await engine.fetch(request);
      } finally {
        give();
      }
    },
    close: () => engine.close(),
  });
  const entries = Object.entries<Engine>(engines).map(([name, engine]) => [name, limited(engine)]);
  return Object.fromEntries(entries) as Record<Name, Engine>;
}

function cancelled(reason: unknown): ScrapifieError {
  if (isScrapifieError(reason)) return reason;
  return new ScrapifieError('CANCELLED', 'The request was cancelled', { cause: reason });
}

interface OwnPagesOptions {
  /** Whole URLs, as a task has them; asked at each fetch, because a server knows its address only once it listens. */
  readonly urls: () => readonly string[];
  /** Makes an engine that may connect to this machine; called at most once, when a page of ours is first asked for. */
  readonly open: () => Engine;
}

/**
 * An engine that can also fetch a few pages of the server it works for, which the address guard would refuse. The
 * exception is a list of whole URLs, not an address or a port: everything else on this machine stays out of reach.
 * Such a page gets a plain GET that carries nothing of the caller's and follows no redirect.
 */
export function withOwnPages(engine: Engine, options: OwnPagesOptions): Engine {
  let own: Engine | null = null;
  return {
    name: engine.name,
    async fetch(request) {
      if (request.method !== 'GET' || !options.urls().includes(request.url)) return engine.fetch(request);
      own ??= options.open();
      return own.fetch({ ...request, headers: {}, cookies: {}, jar: undefined, maxRedirects: 0 });
    },
    async close() {
      await Promise.all([engine.close(), own?.close()]);
    },
  };
}
