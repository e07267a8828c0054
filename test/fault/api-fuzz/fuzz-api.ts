import { setTimeout as delay } from 'node:timers/promises';
import { randomFrom } from '../../site/random.ts';
import { exchange } from './exchange.ts';
import { jsonOf, problemOf, readAnswer } from './judge.ts';
import { readOpenApi } from './operations.ts';
import { buildRequest, type FuzzRequest } from './requests.ts';
import { type FuzzedServer, startFuzzedServer } from './server.ts';
import { upgradeProblemOf, upgradeRequest, WATCH_MS } from './upgrades.ts';
import { chance } from './values.ts';

export interface FuzzOptions {
  readonly requests: number;
  /** Goes on for at least so long, also with more requests. */
  readonly leastMs?: number;
  readonly seed: number;
  readonly say?: (line: string) => void;
}

export interface FuzzReport {
  readonly requests: number;
  readonly operations: number;
  readonly statuses: Readonly<Record<string, number>>;
  /** The first of each kind, with the request that shows it. */
  readonly problems: readonly string[];
  readonly slowestMs: number;
  readonly residentBytesAfterWarmUp: number;
  readonly residentBytesAtEnd: number;
}

const AT_ONCE = 24;
/** One request in ten asks for a WebSocket. */
const UPGRADES_SHARE = 0.1;
/** The longest that a request may take by the time limits that it can ask for here, and a busy machine. */
const LIMIT_MS = 150_000;
const MAX_KNOWN = 300;
const MAX_PROBLEMS = 50;
/**
 * What a server keeps is compared from here on, in requests and in time: threads and databases that are opened when they
 * are first needed are no leak, and the hour of the first request of a rare kind is not known.
 */
const WARM_UP_SHARE = 0.5;
/** Jobs and keys that were made are in caches of bounded size; a leak by request is much more than this. */
const GROWTH_BYTES = 300_000_000;
const SETTLE_TRIES = 120;
const PASSWORD = 'stored-password-that-must-not-leak';

export async function fuzzApi({
  requests,
  leastMs = 0,
  seed,
  say = () => undefined,
}: FuzzOptions): Promise<FuzzReport> {
  const server = await startFuzzedServer();
  try {
    return await attack(server, requests, leastMs, seed, say);
  } finally {
    await server.close();
  }
}

async function attack(
  server: FuzzedServer,
  requests: number,
  leastMs: number,
  seed: number,
  say: (line: string) => void,
): Promise<FuzzReport> {
  const origin = `http://127.0.0.1:${server.port}`;
  const call = (path: string, init: RequestInit = {}) =>
    fetch(`${origin}${path}`, {
      ...init,
      headers: { authorization: `Bearer ${server.apiKey}`, 'content-type': 'application/json' },
    });
  const description = readOpenApi(await (await call('/openapi.json')).json());
  const account = (await (await call('/v1/account')).json()) as { data: { id: string; key: { id: string } } };
  /** Limits that the fuzzer sets for its own account, or its own key revoked, would end it. */
  const own: ReadonlySet<string> = new Set([account.data.key.id, account.data.id]);
  const credential = { kind: 'login', hosts: ['127.0.0.1'], username: 'ann', password: PASSWORD };
  await call('/v1/credentials/fuzz', { method: 'PUT', body: JSON.stringify(credential) });
  const secrets = [...server.secrets, PASSWORD];

  const known: string[] = ['fuzz'];
  const statuses: Record<string, number> = {};
  const problems = new Map<string, string>();
  const random = randomFrom(seed);
  const sources = {
    random,
    description,
    urls: [
      `${origin}/sample`,
      `${origin}/sample?a=b#c`,
      'http://127.0.0.1:1/',
      'http://localhost/',
      'http://[::1]:1/x',
      'http://169.254.169.254/',
      'http://a.invalid/',
    ],
    known: () => known,
  };
  const report = (problem: string, request: FuzzRequest) => {
    const kind = problem.replace(/[\d"].*/s, '');
    const place = request.title.split(/[?{[]/, 1)[0] ?? '';
    if (problems.size < MAX_PROBLEMS && !problems.has(`${kind} ${place}`)) {
      problems.set(`${kind} ${place}`, `${problem} | ${request.title}`);
      say(`problem: ${problem} | ${request.title}`);
    }
  };

  let sent = 0;
  let slowestMs = 0;
  let warmBytes = 0;
  let warmFiles = 0;
  const startedAt = performance.now();
  const hasDone = (share: number) =>
    sent >= requests * share && performance.now() - startedAt >= leastMs * share;
  const isWarm = () => hasDone(WARM_UP_SHARE);
  const isOver = () => hasDone(1);

  async function work(): Promise<void> {
    while (!isOver() && server.exit() === null) {
      const operation = description.operations[sent % description.operations.length];
      if (operation === undefined) throw new Error('The document has no operations.');
      sent += 1;
      const isUpgrade = chance(random, UPGRADES_SHARE);
      const request = isUpgrade
        ? upgradeRequest(known, random, server.apiKey)
        : buildRequest(operation, sources, server.apiKey);
      const ended = await exchange(server.port, request, isUpgrade ? WATCH_MS : LIMIT_MS);
      slowestMs = Math.max(slowestMs, ended.ms);
      const problem = isUpgrade
        ? upgradeProblemOf(request, ended, secrets)
        : problemOf(request, ended, secrets);
      if (problem !== null) report(problem, request);
      const answer = ended.end === 'answered' ? readAnswer(ended.bytes) : null;
      const status = answer === null ? ended.end : String(answer.status);
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (answer !== null && answer.status < 300) learn(jsonOf(answer.body));
      if (warmBytes === 0 && isWarm()) {
        warmBytes = server.residentBytes();
        warmFiles = server.openFiles();
      }
      if (sent % 5_000 === 0)
        say(`${sent} requests, ${JSON.stringify(statuses)}, ${server.residentBytes()} bytes`);
    }
  }

  /** Ids, names and cursors are used in later requests; the key and the account of the fuzzer itself are not among them. */
  function learn(json: unknown, depth = 0): void {
    if (typeof json !== 'object' || json === null || depth > 4) return;
    for (const [name, value] of Object.entries(json)) {
      if (typeof value === 'object') learn(value, depth + 1);
      else if (!/^(?:id|name|nextCursor|host)$/.test(name) || typeof value !== 'string' || own.has(value))
        continue;
      else if (known.length < MAX_KNOWN) known.push(value);
      else known[Math.floor(random() * MAX_KNOWN)] = value;
    }
  }

  await Promise.all(Array.from({ length: AT_ONCE }, work));
  const list = () => [...problems.values()];
  const common = {
    requests: sent,
    operations: description.operations.length,
    statuses,
    slowestMs: Math.round(slowestMs),
  };
  const exit = server.exit();
  if (exit !== null) {
    const problem = `the server ended: ${exit}: ${server.stderr().slice(-2_000)}`;
    return {
      ...common,
      problems: [problem, ...list()],
      residentBytesAfterWarmUp: warmBytes,
      residentBytesAtEnd: 0,
    };
  }
  const filesLeft = await settled(() => server.openFiles() - warmFiles);
  const endBytes = server.residentBytes();
  const counted = await (await call('/metrics')).text();
  const faults = [...counted.matchAll(/^scrapifie_faults_total\{kind="(\w+)"\} [1-9]\d*/gm)];
  const leaks = [
    ...(/^scrapifie_faults_total/m.test(counted) ? [] : ['the metrics have no count of faults']),
    ...faults.map(([line]) => `errors that no caller has handled: ${line}`),
    ...(filesLeft > AT_ONCE ? [`${filesLeft} more files and sockets are open than half-way`] : []),
    ...(endBytes > warmBytes + GROWTH_BYTES ? [`memory grew from ${warmBytes} to ${endBytes} bytes`] : []),
    ...((await call('/v1/account')).status === 200
      ? []
      : ['the server does not answer a plain request any more']),
  ];
  return {
    ...common,
    problems: [...leaks, ...list()],
    residentBytesAfterWarmUp: warmBytes,
    residentBytesAtEnd: endBytes,
  };
}

/** The figure once it is small, or after a while: connections are closed a moment after their clients. */
async function settled(figure: () => number): Promise<number> {
  for (let tries = 0; tries < SETTLE_TRIES && figure() > 2; tries += 1) await delay(250);
  return figure();
}
