import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { type FuzzedServer, startFuzzedServer } from '../api-fuzz/server.ts';
import { type Fared, openHostileClients } from './clients.ts';
import type { Probed } from './health-probe.ts';
import { HOSTILE_KINDS } from './kinds.ts';

export interface AssaultOptions {
  /** How many connections each kind opens. */
  readonly connections: number;
  /** How long the connections of a kind stay after they have sent what they could. */
  readonly holdMs: number;
  /** How long they may take to send it. */
  readonly sendMs: number;
  readonly say: (line: string) => void;
  /**
   * The server has the first core of the machine for itself and the clients have the others, as when they are on other
   * machines. Left out, they take the server's core from it.
   */
  readonly isApart?: boolean;
  /** Only the kind whose name has this in it; all when left out. */
  readonly only?: string;
}

export interface Assaulted {
  readonly fared: readonly Fared[];
  /** What `/healthz` took meanwhile. */
  readonly health: Probed;
  /** CPU time of the main thread of the server meanwhile, and how long it waited for a core of a busy machine. */
  readonly usedMs: number;
  readonly waitedMs: number;
  /** How much larger the resident memory was than before, at most. */
  readonly grownMb: number;
  /** Connections that the server still had when the clients had held theirs for a while. */
  readonly openConnections: number;
  /** Bytes of unfinished request bodies that the server said it holds, at most. */
  readonly heldBytes: number;
}

export interface AssaultReport {
  readonly stages: readonly Assaulted[];
  /** Null while it ran, which is as it should be. */
  readonly exit: string | null;
  /** Files that the server had open when all clients had gone, less those before. */
  readonly leftOpen: number;
  /** What it has said besides its log. */
  readonly stderr: string;
}

const SAMPLE_MS = 200;
const MB = 1_048_576;
/** A server that takes this much more is ended: the machine is for others, too. */
const MOST_GROWN_MB = 3_000;
const SETTLE_MS = 20_000;

/** Has clients without a key do each hostile thing, one kind after the other and then all at once, to a server of its own. */
export async function assault(options: AssaultOptions): Promise<AssaultReport> {
  const server = await startFuzzedServer();
  const probe = new Worker(new URL('./health-probe.ts', import.meta.url), {
    workerData: { port: server.port },
  });
  try {
    if (options.isApart === true) {
      server.keepTo('0');
      execFileSync('taskset', ['-acp', `1-${availableParallelism() - 1}`, String(process.pid)]);
    }
    await warmUp(server);
    const filesBefore = server.openFiles();
    const stages: Assaulted[] = [];
    const chosen = HOSTILE_KINDS.filter(({ name }) => name.includes(options.only ?? ''));
    for (const kinds of [...chosen.map((kind) => [kind]), ...(chosen.length > 1 ? [chosen] : [])]) {
      const stage = await assaultBy(kinds, server, probe, options);
      stages.push(stage);
      const { fared, ...rest } = stage;
      options.say(`${fared.length === 1 ? fared[0]?.kind : 'all at once'}: ${JSON.stringify(rest)}`);
      for (const each of fared) options.say(`  ${JSON.stringify(each)}`);
      if (server.exit() !== null || stage.grownMb > MOST_GROWN_MB) break;
    }
    let leftOpen = server.openFiles() - filesBefore;
    for (let waitedMs = 0; leftOpen > 0 && waitedMs < SETTLE_MS; waitedMs += SAMPLE_MS) {
      await delay(SAMPLE_MS);
      leftOpen = server.exit() === null ? server.openFiles() - filesBefore : 0;
    }
    return { stages, exit: server.exit(), leftOpen, stderr: server.stderr() };
  } finally {
    await probe.terminate();
    await server.close();
  }
}

/** What the first requests load and keep is not what hostile clients cost. */
async function warmUp({ port }: FuzzedServer): Promise<void> {
  const url = `http://127.0.0.1:${port}`;
  const paths = ['/openapi.json', '/help', '/docs', '/', '/healthz', '/v1/jobs'];
  for (let round = 0; round < 20; round += 1) {
    await Promise.all(paths.map(async (path) => (await fetch(url + path)).arrayBuffer()));
  }
}

async function assaultBy(
  kinds: typeof HOSTILE_KINDS,
  server: FuzzedServer,
  probe: Worker,
  { connections, holdMs, sendMs }: AssaultOptions,
): Promise<Assaulted> {
  const { port, apiKey } = server;
  await probed(probe);
  const before = server.residentBytes();
  const filesBefore = server.openFiles();
  const timesBefore = server.mainThread();
  let most = before;
  let heldBytes = 0;
  const sample = setInterval(() => {
    if (server.exit() !== null) return;
    most = Math.max(most, server.residentBytes());
    if (most - before > MOST_GROWN_MB * MB) void server.close();
  }, SAMPLE_MS);
  const clients = await Promise.all(
    kinds.map((kind) => openHostileClients({ port, kind, connections, sendMs })),
  );
  heldBytes = await gauge(port, apiKey, 'scrapifie_request_bytes');
  await delay(holdMs);
  const fared = clients.map((each) => each.fared());
  const openConnections = server.exit() === null ? server.openFiles() - filesBefore : 0;
  clearInterval(sample);
  const times = server.exit() === null ? server.mainThread() : timesBefore;
  const health = await probed(probe);
  for (const each of clients) each.close();
  return {
    fared,
    health,
    usedMs: times.usedMs - timesBefore.usedMs,
    waitedMs: times.waitedMs - timesBefore.waitedMs,
    grownMb: Math.round((most - before) / MB),
    openConnections,
    heldBytes,
  };
}

async function probed(probe: Worker): Promise<Probed> {
  const told = once(probe, 'message');
  probe.postMessage('tell');
  const [answer] = await told;
  return answer as Probed;
}

/** The value of a metric of the server; 0 when it has none, or does not answer. */
async function gauge(port: number, apiKey: string, name: string): Promise<number> {
  const text = await fetch(`http://127.0.0.1:${port}/metrics`, { headers: { 'x-api-key': apiKey } })
    .then((answer) => answer.text())
    .catch(() => '');
  return Number(new RegExp(`^${name}(?:\\{[^}]*\\})? (\\S+)$`, 'm').exec(text)?.[1] ?? 0);
}
