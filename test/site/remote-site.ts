import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Counts, LogEntry } from './request-log.ts';
import { addressesOf, type SiteAddresses, type SiteOptions } from './site.ts';

/** The test web in a process of its own, so that neither it nor who fetches from it slows the other down. */
export interface RemoteSite extends SiteAddresses {
  readonly pid: number;
  /** The full log from a sequence number on; the site must run with `log: 'full'`. */
  entries(since?: number): Promise<readonly LogEntry[]>;
  counts(): Promise<Counts>;
  reset(): Promise<void>;
  /** Stops the process and waits for its end. */
  close(): Promise<void>;
}

export async function spawnSite(options: SiteOptions = {}): Promise<RemoteSite> {
  const { port = 0, pages, log = 'full', logLimit, naming = 'addresses' } = options;
  const args = [fileURLToPath(new URL('main.ts', import.meta.url)), '--port', String(port), '--log', log];
  if (pages !== undefined) args.push('--pages', String(pages));
  if (logLimit !== undefined) args.push('--log-limit', String(logLimit));
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).once('line', resolve);
    child.once('error', reject);
    child.once('exit', (code) =>
      reject(new Error(`The test site ended with code ${code} before it was ready.`)),
    );
  });
  const addresses = addressesOf(Number(new URL(address).port), naming);

  const ask = async (path: string): Promise<Response> => {
    const response = await fetch(addresses.url + path);
    if (!response.ok) throw new Error(`The test site answered ${response.status} to ${path}.`);
    return response;
  };
  return {
    ...addresses,
    pid: child.pid ?? 0,
    async entries(since = 0) {
      const text = await (await ask(`/__log?since=${since}`)).text();
      return text
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as LogEntry);
    },
    counts: async () => (await (await ask('/__counts')).json()) as Counts,
    async reset() {
      await (await ask('/__reset')).text();
    },
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}
