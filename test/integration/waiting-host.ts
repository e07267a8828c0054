import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const HOUR_SECONDS = 3_600;
export const HOUR_MS = HOUR_SECONDS * 1_000;

/** A host that makes its visitors wait. */
export interface WaitingHost {
  readonly url: string;
  readonly key: string;
  /** Paths that were requested, without robots.txt. */
  readonly heard: string[];
  close(): void;
}

/** /limited asks to wait an hour, /failing fails, other paths are pages; robots.txt asks for the delay, in seconds. */
export async function startWaitingHost(crawlDelay: number | null = null): Promise<WaitingHost> {
  const heard: string[] = [];
  const server = createServer((request, response) => {
    const path = request.url ?? '';
    if (path === '/robots.txt') {
      response.writeHead(crawlDelay === null ? 404 : 200, { 'content-type': 'text/plain' });
      response.end(crawlDelay === null ? '' : `User-agent: *\nCrawl-delay: ${crawlDelay}\n`);
      return;
    }
    heard.push(path);
    if (path === '/limited') response.writeHead(429, { 'retry-after': String(HOUR_SECONDS) });
    else response.writeHead(path.startsWith('/failing') ? 500 : 200, { 'content-type': 'text/html' });
    response.end('<title>Page</title><p>Some words of a page.</p>');
  });
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const key = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${key}`,
    key,
    heard,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** A policy by which one host has its hours later than now, and another wants a proxy tier. */
export function waitingPolicy(closed: string, wantsProxy: string): string {
  const opens = Date.now() + 2 * HOUR_MS;
  const clock = (at: number) => new Date(at).toISOString().slice(11, 16);
  return `
default: { rate: unlimited, concurrency: 8 }
domains:
  "${closed}":
    allowedHours: { from: "${clock(opens)}", to: "${clock(opens + HOUR_MS)}", timeZone: UTC }
  "${wantsProxy}":
    proxyTier: residential
`;
}
