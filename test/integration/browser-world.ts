import { searchEnvironment } from '../../src/core/config/search-environment.ts';
import { findBrowser } from '../../src/fetch/browser/pool/find-browser.ts';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import type { WorldOptions } from './world.ts';

/**
 * An API world whose tests render pages. The search for a browser comes first, so that a machine without one fails with
 * that reason, and so that these test files are known to start a program (see `test/architecture/program-tests.ts`).
 */
export async function openBrowserWorld(options: WorldOptions = {}): Promise<ApiWorld> {
  const browser = await findBrowser({ executable: null, env: searchEnvironment() });
  if (browser === null) throw new Error('These tests need a browser: run `make browser`.');
  return openApiWorld(options);
}
