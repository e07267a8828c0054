import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createRoleProcess, type RoleProcess } from '../../fleet/role-process.ts';
import { parseEventStream, type StreamEvent } from '../../src/capabilities/events/stream-frames.ts';
import { environmentName } from '../../src/core/config/settings.ts';
import { takeFleetPlace } from '../integration/fleet-place.ts';
import { QUICK_POLICY } from '../integration/world.ts';
import { randomFrom } from '../site/random.ts';
import { spawnSite } from '../site/remote-site.ts';

export interface KillListenedOptions {
  readonly pages: number;
  /** How often the server is killed while clients listen. */
  readonly kills: number;
  readonly clients: number;
  /** Decides when clients leave and when the kills come. */
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface KillListenedReport {
  readonly kills: number;
  readonly connections: number;
  /** Events with an id of the whole stream, read at the end in one go. */
  readonly events: number;
  readonly pages: number;
  /** What clients missed, repeated or got in another order. */
  readonly problems: readonly string[];
}

const API_KEY = 'a-key-for-listeners-0123456789';
const VAULT_KEY = 'f1'.repeat(32);
const RETRY_MS = 200;
const STOP_MS = 20_000;

/**
 * Crawls while clients listen that leave at any event and come back, and while the server is killed and started again.
 * Each client must have got exactly what the store has in the end, in its order.
 */
export async function killListened(options: KillListenedOptions): Promise<KillListenedReport> {
  const { pages, kills, clients, say = () => {} } = options;
  const random = randomFrom(options.seed);
  const dir = await mkdtemp(join(tmpdir(), 'scrapifie-listened-'));
  const place = await takeFleetPlace();
  const site = await spawnSite({ pages, log: 'counts' });
  const policyFile = join(dir, 'policy.yaml');
  await writeFile(policyFile, QUICK_POLICY);
  const settings = {
    apiKey: API_KEY,
    vaultKey: VAULT_KEY,
    allowPrivate: true,
    policyFile,
    logLevel: 'info',
    // After a kill the hosts of a fleet wait until the lease is over.
    hostLeaseMs: 5_000,
    ...place?.settings,
  };
  const environment = Object.entries(settings).map(([name, value]) => [environmentName(name), String(value)]);
  const server = createRoleProcess({
    name: 'listened',
    role: 'all',
    dir,
    environment: Object.fromEntries(environment),
    isKeptUp: false,
    stopMs: STOP_MS,
  });
  try {
    await server.start();
    const body = { urls: [`${site.url}/big/`], sitemap: 'skip', maxPages: null };
    const id = await startCrawl(server, body);
    let connections = 0;
    const isOver = new AbortController();
    const heard = Array.from({ length: clients }, () =>
      follow(
        server,
        id,
        () => 1 + Math.floor(random() * pages),
        isOver.signal,
        () => (connections += 1),
      ),
    );
    let killed = 0;
    while (killed < kills) {
      await delay(500 + random() * 1_500);
      if (await hasEnded(server, id)) break;
      await server.kill();
      await server.start();
      killed += 1;
      say(`kill ${killed}`);
    }
    const lists = await Promise.all(heard);
    const whole = await follow(
      server,
      id,
      () => Number.POSITIVE_INFINITY,
      isOver.signal,
      () => {},
    );
    const problems = lists.flatMap((list, n) => problemOf(list, whole).map((what) => `client ${n}: ${what}`));
    const told = whole.filter(({ type }) => type.startsWith('page.'));
    const urls = new Set(told.map(({ data }) => String(data.url)));
    if (urls.size !== told.length) problems.push('a page was told twice');
    return { kills: killed, connections, events: whole.length, pages: told.length, problems };
  } finally {
    await server.stop().catch(() => undefined);
    await site.close();
    await place?.remove();
    await rm(dir, { recursive: true, force: true });
  }
}

const headers = { 'x-api-key': API_KEY, 'content-type': 'application/json' };

async function startCrawl(server: RoleProcess, body: object): Promise<string> {
  const options = { method: 'POST', headers, body: JSON.stringify(body) };
  const response = await fetch(`${server.origin}/v1/crawl`, options);
  const answer = (await response.json()) as { data: { id: string } };
  return answer.data.id;
}

async function hasEnded(server: RoleProcess, id: string): Promise<boolean> {
  const response = await fetch(`${server.origin}/v1/jobs/${id}`, { headers });
  const answer = (await response.json()) as { data: { finishedAt: string | null } };
  return answer.data.finishedAt !== null;
}

/** The events with an id that a client has in the end, which leaves after as many events as `patience` says. */
async function follow(
  server: RoleProcess,
  id: string,
  patience: () => number,
  isOver: AbortSignal,
  onConnect: () => void,
): Promise<StreamEvent[]> {
  const events: StreamEvent[] = [];
  let last: string | null = null;
  while (!isOver.aborted) {
    const leave = new AbortController();
    try {
      const more = last === null ? {} : { 'last-event-id': last };
      const options = { headers: { ...headers, ...more }, signal: leave.signal };
      const response = await fetch(`${server.origin}/v1/jobs/${id}/events`, options);
      if (!response.ok || response.body === null) throw new Error(`It answered ${response.status}.`);
      onConnect();
      let left = patience();
      for await (const event of parseEventStream(response.body.pipeThrough(new TextDecoderStream()))) {
        if (event.type === 'end') return events;
        if (event.type !== 'progress' && event.type !== 'log') {
          events.push(event);
          last = event.id;
          left -= 1;
        }
        if (left <= 0) break;
      }
    } catch {
      // The server is down for a moment, or was killed while it sent.
      await delay(RETRY_MS);
    } finally {
      leave.abort();
    }
  }
  return events;
}

function problemOf(list: readonly StreamEvent[], whole: readonly StreamEvent[]): string[] {
  const [got, expected] = [list.map(({ id }) => id), whole.map(({ id }) => id)];
  if (JSON.stringify(got) === JSON.stringify(expected)) return [];
  const missed = expected.filter((id) => !got.includes(id)).length;
  const repeated = got.length - new Set(got).size;
  return [`got ${got.length} of ${expected.length} events, missed ${missed}, repeated ${repeated}`];
}
