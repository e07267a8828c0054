import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { LedgerEntry } from '../../src/core/model/task.ts';
import { treePids } from '../../src/fetch/browser/pool/process-tree.ts';
import { endMembers, type Member, startMember } from '../fleet/member.ts';
import { KILLERS, startKillerSite } from '../hostile/page-killers.ts';
import { QUICK_POLICY } from './world.ts';

const LIMIT_MS = 540_000;
const UNTIL = { timeout: 500_000, interval: 100 };
const API_KEY = 'sk_test_0123456789abcdef0123456789abcdef';
let dir: string;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-killers-'));
  await writeFile(join(dir, 'policy.yaml'), QUICK_POLICY);
});
afterAll(async () => {
  await endMembers();
  await rm(dir, { recursive: true, force: true });
});

const startServer = (name: string): Promise<Member> =>
  startMember(join(dir, name), 'all', {
    allowPrivate: true,
    apiKey: API_KEY,
    policyFile: join(dir, 'policy.yaml'),
    browserPages: 3,
  });

async function api<T>(server: Member, path: string, body?: unknown): Promise<T> {
  const answer = await fetch(server.origin + path, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return ((await answer.json()) as { data: T }).data;
}

async function ledgerOf(server: Member, id: string): Promise<readonly LedgerEntry[]> {
  return vi.waitFor(async () => {
    const { items } = await api<{ items: LedgerEntry[] }>(server, `/v1/jobs/${id}/urls`);
    expect(items.filter(({ decision }) => decision === 'pending')).toEqual([]);
    return items;
  }, UNTIL);
}

const TYPED = /^(BROWSER_CRASHED|BROWSER_LOST|TASK_TIMEOUT|ACTION_FAILED|BODY_LIMIT_EXCEEDED)$/;

test(
  'pages that make messages no string can hold cost neither the server nor the pages beside them',
  async () => {
    const server = await startServer('killers');
    const { origin } = await startKillerSite();
    const killers = Object.keys(KILLERS).map((path) => origin + path);
    // Another site: pages of one site share a renderer, which the killers keep busy for their whole time.
    const friendly = await startKillerSite();
    const others = [1, 2, 3, 4, 5, 6, 7, 8].map((number) => `${friendly.origin}/other/${number}`);
    // Pages of this site keep their renderer busy for as long as they may.
    const briefly = { timeoutMs: 8_000, maxAttempts: 2 };
    const actions = [{ type: 'evaluate', script: `'\\u0001'.repeat(100e6)` }];
    const batches = [
      { urls: others.slice(0, 4) },
      { urls: killers, options: briefly },
      { urls: others.slice(4) },
      { urls: [`${origin}/evaluates`], options: { ...briefly, actions } },
    ];
    const entries: LedgerEntry[] = [];
    const jobs: { id: string }[] = [];
    for (const batch of batches) jobs.push(await api(server, '/v1/batch', batch));
    for (const { id } of jobs) entries.push(...(await ledgerOf(server, id)));
    expect(server.exitCode).toBeNull();
    expect((await fetch(`${server.origin}/healthz`)).status).toBe(200);
    const byUrl = new Map(entries.map((entry) => [entry.url, entry]));
    for (const url of others) {
      const { state, attempts } = byUrl.get(url) ?? {};
      expect({ url, state, attempts }).toMatchObject({ state: 'done' });
    }
    for (const url of [...killers, `${origin}/evaluates`]) {
      const { state, errorCode, attempts } = byUrl.get(url) ?? {};
      if (state !== 'done')
        expect([url, state, errorCode]).toEqual([url, 'failed', expect.stringMatching(TYPED)]);
      // One attempt by plain HTTP, those of `maxAttempts`, and those that are not charged because the browser was lost.
      expect(attempts?.length).toBeLessThanOrEqual(7);
      expect(attempts?.some(({ engine }) => engine === 'browser')).toBe(true);
    }
  },
  LIMIT_MS,
);

test(
  'a server that is killed leaves neither a render process nor a browser behind',
  async () => {
    const server = await startServer('killed');
    const { origin, held } = await startKillerSite();
    await api(server, '/v1/batch', { urls: [`${origin}/waits`] });
    await vi.waitFor(() => expect(held).toHaveLength(1), UNTIL);
    const below = (await treePids(server.pid)).filter((pid) => pid !== server.pid);
    // The render process, the browser and its helpers.
    expect(below.length).toBeGreaterThan(3);
    server.signal('SIGKILL');
    await server.ended;
    for (const pid of below) {
      await vi.waitFor(async () => expect([pid, await treePids(pid)]).toEqual([pid, []]), UNTIL);
    }
  },
  LIMIT_MS,
);
