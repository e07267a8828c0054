import type { Engine } from './engine.ts';

export interface OwnPagesOptions {
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
