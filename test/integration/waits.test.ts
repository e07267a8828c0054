import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type ApiWorld, openApiWorld } from './api-world.ts';
import { HOUR_MS, HOUR_SECONDS, startWaitingHost, type WaitingHost, waitingPolicy } from './waiting-host.ts';
import { FLEET_VAULT_KEY } from './world.ts';

/** Longer than a test may take: an answer that comes has not waited for it. */
const PATIENT_MS = 300_000;

let world: ApiWorld;
const hosts: WaitingHost[] = [];
const names = ['limited', 'idempotent', 'batch', 'failing', 'closed', 'tier', 'policyTier', 'slow'] as const;
let on: Record<(typeof names)[number], WaitingHost>;

beforeAll(async () => {
  for (const name of names) hosts.push(await startWaitingHost(name === 'slow' ? HOUR_SECONDS : null));
  on = Object.fromEntries(names.map((name, index) => [name, hosts[index]])) as typeof on;
  world = await openApiWorld({
    policy: waitingPolicy(on.closed.key, on.policyTier.key),
    settings: { vaultKey: FLEET_VAULT_KEY },
  });
});
afterAll(async () => {
  await world.close();
  for (const host of hosts) host.close();
});

async function scrape(url: string, more: object = {}, headers: Record<string, string> = {}) {
  const payload = { url, timeoutMs: PATIENT_MS, ...more };
  const answer = await world.send({ method: 'POST', url: '/v1/scrape', payload, headers });
  const { error } = answer.json() as {
    error?: { code: string; message: string; details: { jobId: string; until?: string } };
  };
  return { status: answer.statusCode, retryAfter: Number(answer.headers['retry-after']), error };
}

const jobView = async (id: string) => (await world.call({ method: 'GET', url: `/v1/jobs/${id}` })).body.data;

describe('a scrape that cannot end in time is answered at once', () => {
  test('by a host that asked to wait an hour, and leaves nothing behind that fetches later', async () => {
    const first = await scrape(`${on.limited.url}/limited`);
    expect(first).toMatchObject({ status: 503, error: { code: 'HOST_RATE_LIMITED' } });
    expect(first.error?.message).toMatch(/asked to wait until \d{4}-.*Z/);
    expect(first.retryAfter).toBeGreaterThan(HOUR_SECONDS - 120);
    const job = await jobView(first.error?.details.jobId ?? '');
    expect(job).toMatchObject({
      status: 'cancelled',
      stopReason: 'wait:HOST_RATE_LIMITED',
      progress: { open: 0, cancelled: 1 },
      waitingFor: [],
    });
    // The host is not asked again for the next caller.
    expect(await scrape(`${on.limited.url}/page`)).toMatchObject({
      status: 503,
      error: { code: 'HOST_RATE_LIMITED' },
    });
    expect(on.limited.heard).toEqual(['/limited']);
  });

  test('by a host whose circuit breaker is open', async () => {
    for (let each = 0; each < 5; each += 1)
      await scrape(`${on.failing.url}/failing?${each}`, { maxAttempts: 1 });
    const asked = on.failing.heard.length;
    const answer = await scrape(`${on.failing.url}/page`, { timeoutMs: 60_000 });
    expect(answer).toMatchObject({ status: 503, error: { code: 'CIRCUIT_OPEN' } });
    expect(answer.retryAfter).toBeGreaterThan(60);
    expect(on.failing.heard).toHaveLength(asked);
  });

  test('by a host whose hours have not begun, with the time at which they do', async () => {
    const answer = await scrape(`${on.closed.url}/page`);
    expect(answer).toMatchObject({ status: 503, error: { code: 'OUTSIDE_HOURS' } });
    expect(Date.parse(answer.error?.details.until ?? '') - Date.now()).toBeGreaterThan(HOUR_MS);
    expect(on.closed.heard).toEqual([]);
  });

  test('by a host whose robots.txt asks for a long pause between requests', async () => {
    // The time is less than the longest pause that the policy grants, a minute.
    const answer = await scrape(`${on.slow.url}/page`, { timeoutMs: 20_000 });
    expect(answer).toMatchObject({ status: 503, error: { code: 'HOST_RATE_LIMITED' } });
    expect(answer.error?.message).toMatch(
      /asks for a pause between requests \(Crawl-delay\); the next one is sent at \d{4}-/,
    );
    expect(answer.retryAfter).toBeGreaterThan(20);
    expect(on.slow.heard).toEqual([]);
  });

  test('by a proxy tier that the policy sets and that is not set up', async () => {
    const set = await scrape(`${on.policyTier.url}/page`);
    // Nothing is known about when there will be one.
    expect(set.retryAfter).toBeNaN();
    expect(set.error).toMatchObject({ code: 'NO_HEALTHY_PROXY', message: 'No residential proxy is set up.' });
    const job = await world.batchNow({ urls: [1, 2, 3].map((page) => `${on.policyTier.url}/${page}`) });
    expect(job).toMatchObject({ status: 'failed', counters: { failed: 3 } });
    expect(on.policyTier.heard).toEqual([]);
  });
});

test('a proxy that no installed one can be is refused before anything is stored, and the field is named', async () => {
  const url = `${on.tier.url}/page`;
  const german = { proxy: { country: 'de' } };
  const mobile = { proxy: { tier: 'mobile' } };
  const cases = [
    ['/v1/scrape', { url, ...german }, 'proxy.country'],
    ['/v1/scrape', { url, ...mobile }, 'proxy.tier'],
    ['/v1/batch', { urls: [url, `${url}/2`], options: german }, 'proxy.country'],
    ['/v1/crawl', { urls: [url], options: mobile }, 'proxy.tier'],
    ['/v1/schedules', { name: 'a', cron: '0 4 * * *', job: { kind: 'batch', urls: [url], options: german } }],
    ['/v2/scrape', { url, location: { country: 'DE' } }],
  ] as const;
  const jobs = async () => (await world.call({ method: 'GET', url: '/v1/jobs' })).body.data;
  const before = await jobs();
  for (const [path, payload, field] of cases) {
    const { status, body } = await world.call({ method: 'POST', url: path, payload });
    expect([path, JSON.stringify(body)]).toEqual([
      path,
      expect.stringContaining('No proxies are set up here (SCRAPIFIE_PROXY_FILE).'),
    ]);
    expect([400, 422]).toContain(status);
    if (field !== undefined) {
      expect(body.error).toMatchObject({ code: 'UNSUPPORTED_OPTION', details: [{ field }] });
    }
  }
  expect(await jobs()).toEqual(before);
  expect(on.tier.heard).toEqual([]);
});

test('a scrape under an Idempotency-Key is answered at once, and its job goes on', async () => {
  const key = { 'idempotency-key': 'come-again' };
  const first = await scrape(`${on.idempotent.url}/limited`, {}, key);
  expect(first.error?.code).toBe('HOST_RATE_LIMITED');
  const id = first.error?.details.jobId ?? '';
  expect(await jobView(id)).toMatchObject({ status: 'running', progress: { open: 1 } });
  const again = await scrape(`${on.idempotent.url}/limited`, {}, key);
  expect(again.error?.details.jobId).toBe(id);
  expect(on.idempotent.heard).toEqual(['/limited']);
});

test('a job shows what it waits for, until when, and how many URLs do', async () => {
  const { url, key } = on.batch;
  const job = await world.batch({ urls: [`${url}/limited`, `${url}/1`, `${url}/2`] });
  await vi.waitFor(
    async () => {
      const { waitingFor } = (await jobView(job.id)) as { waitingFor: { tasks: number; until: string }[] };
      expect(waitingFor).toMatchObject([{ host: key, code: 'HOST_RATE_LIMITED' }]);
      expect(Date.parse(waitingFor[0]?.until ?? '') - Date.now()).toBeGreaterThan(HOUR_MS - 120_000);
    },
    { timeout: 20_000 },
  );
  const listed = await world.call({ method: 'GET', url: '/v1/jobs' });
  expect((listed.body.data as { items: object[] }).items[0]).not.toHaveProperty('waitingFor');
  await world.platform.jobs.cancel(job.id, world.account);
});
