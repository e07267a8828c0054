import { writeFileSync } from 'node:fs';
import type { Browser } from 'playwright-core';
import { vi } from 'vitest';
import { endCommands, startCommand, temporaryFolder } from '../integration/cli-command.ts';
import { QUICK_POLICY } from '../integration/world.ts';
import { openBrowser } from './dashboard-server.ts';
import { type HostileSite, startHostileSite } from './hostile-site.ts';

export const API_KEY = 'a-key-of-the-tests-of-the-dashboard';
const WAIT = { timeout: 60_000, interval: 100 };

/** A server as `scrapifie serve` starts it, with the built dashboard, a browser to look at it, and a site that wants harm. */
export interface DashboardWorld {
  readonly origin: string;
  /** The address that the start printed; it signs in by itself. */
  readonly link: string;
  readonly browser: Browser;
  readonly site: HostileSite;
  readonly call: Call;
  close(): Promise<void>;
}

type Json = Readonly<Record<string, unknown>>;
/** A request of the API; returns `data` of the answer. A body makes it a POST. */
export type Call = (path: string, body?: Json, method?: string) => Promise<Json>;

export async function openDashboardWorld(): Promise<DashboardWorld> {
  const browser = await openBrowser();
  const folder = temporaryFolder();
  writeFileSync(folder.path('policy.yaml'), QUICK_POLICY);
  const args = [
    '--port',
    '0',
    '--data-dir',
    folder.path('data'),
    '--policy-file',
    folder.path('policy.yaml'),
  ];
  const server = startCommand(['serve', ...args, '--allow-private'], {
    env: { SCRAPIFIE_API_KEY: API_KEY, SCRAPIFIE_PROXIES: 'http://127.0.0.1:9' },
  });
  const [site, link] = await Promise.all([
    startHostileSite(),
    vi.waitFor(() => {
      const printed = /^ {2}Dashboard {2}(http:\S+)/m.exec(server.stdout())?.[1];
      if (printed === undefined) throw new Error(`The server is not ready: ${server.stdout()}`);
      return printed;
    }, WAIT),
  ]);
  const { origin } = new URL(link);
  return {
    origin,
    link,
    browser,
    site,
    call: callOf(origin),
    async close() {
      await browser.close();
      await endCommands();
      await site.close();
      folder.remove();
    },
  };
}

const callOf =
  (origin: string): Call =>
  async (path, body, method = body === undefined ? 'GET' : 'POST') => {
    const answer = await fetch(`${origin}${path}`, {
      method,
      headers: { 'x-api-key': API_KEY, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path} was answered with ${answer.status}: ${text}`);
    return (JSON.parse(text) as { data: Json }).data;
  };

/** Repeats a request until its answer passes: readers of events write many of the shown values a moment later. */
export async function until(
  call: Call,
  path: string,
  isThere: (data: Json) => boolean,
  body?: Json,
): Promise<Json> {
  return vi.waitFor(async () => {
    const data = await call(path, body);
    if (!isThere(data)) throw new Error(`${path} is not there yet: ${JSON.stringify(data).slice(0, 300)}`);
    return data;
  }, WAIT);
}
