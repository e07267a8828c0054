import type { Browser, BrowserContext, Page } from 'patchright-core';

/**
 * The library's other half, where that runs in this process: null for a browser behind a Playwright server. It is no
 * part of the interface, so whatever is expected of it may be missing, and tests watch over what we rely on.
 */
export function internalsOf<T>(object: Browser | BrowserContext | Page): T | null {
  const { _connection: connection } = object as unknown as {
    _connection?: { toImpl?: (of: object) => unknown };
  };
  return (connection?.toImpl?.(object) as T | undefined) ?? null;
}
