import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, BrowserContext, Page } from 'patchright-core';

/** The version of patchright-core that the patches in this folder were written for. */
export const PATCHRIGHT_VERSION = '1.63.0';

/**
 * The server-side object of the library behind a client-side one. Null for a browser behind a Playwright server, where
 * that object is in another process, and for a library whose internals have changed.
 */
export function internalsOf<T>(object: Browser | BrowserContext | Page): T | null {
  const { _connection: connection } = object as unknown as {
    _connection?: { toImpl?: (of: object) => unknown };
  };
  return (connection?.toImpl?.(object) as T | undefined) ?? null;
}

/**
 * Returns the dotted paths that lead to nothing. The library does not promise these internals, so any version may
 * change them.
 */
export function missingInternals(internals: object | null, paths: readonly string[]): string[] {
  return paths.filter((path) => {
    let value: unknown = internals;
    for (const name of path.split('.')) {
      if (typeof value !== 'object' || value === null) return true;
      value = (value as Readonly<Record<string, unknown>>)[name];
    }
    return value === undefined || value === null;
  });
}

/** For the log: what was not found, and which version has it. */
export function describeMismatch(missing: readonly string[]): string {
  return `patchright-core ${PATCHRIGHT_VERSION} is needed and ${installedVersion()} is installed: without ${missing.join(', ')} it is used unpatched`;
}

function installedVersion(): string {
  try {
    const path = fileURLToPath(import.meta.resolve('patchright-core/package.json'));
    const { version } = JSON.parse(readFileSync(path, 'utf8')) as { version?: string };
    return version ?? 'an unknown version';
  } catch {
    return 'an unknown version';
  }
}
