import { EXECUTABLE, type TestBrowser } from '../browser/browser.fixture.ts';
import { type BrowserRuntimeOptions, createBrowserRuntime } from '../browser/browser-runtime.ts';
import { findBrowser } from '../browser/pool/find-browser.ts';
import { createStealthEngine, type StealthEngineOptions } from './stealth-engine.ts';

const found = await findBrowser({ executable: EXECUTABLE, env: {} });
export const BROWSER_VERSION = found?.version ?? '';

/** A disguised engine with quick pointer and keys. The test that asks for it closes it. */
export function lastingStealth(
  options: Partial<BrowserRuntimeOptions> = {},
  more: Partial<StealthEngineOptions> = {},
): TestBrowser {
  const runtime = createBrowserRuntime({ executablePath: EXECUTABLE, allowPrivate: true, ...options });
  const pauses = { minMs: 1, maxMs: 20 };
  return { runtime, engine: createStealthEngine({ runtime, userAgent: 'TestBot/1', pauses, ...more }) };
}
