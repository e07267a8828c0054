import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  HOUR_MS,
  HOUR_SECONDS,
  startWaitingHost,
  type WaitingHost,
  waitingPolicy,
} from '../integration/waiting-host.ts';
import { type ApiClient, createApiClient } from './api-client.ts';
import { type Crew, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 180_000;
/** Longer than a client of these tests waits for an answer. */
const PATIENT_MS = 300_000;

let crew: Crew;
let client: ApiClient;
const hosts: WaitingHost[] = [];
const hostAt = (index: number): WaitingHost => {
  const host = hosts[index];
  if (host === undefined) throw new Error(`There is no host ${index}.`);
  return host;
};

beforeAll(async () => {
  for (let each = 0; each < 4; each += 1) hosts.push(await startWaitingHost());
  crew = await gatherCrew({ policy: waitingPolicy(hostAt(2).key, hostAt(3).key) });
  const api = await crew.add('api');
  await crew.add('http-worker');
  client = createApiClient(() => api.origin, crew.apiKey);
}, LIMIT_MS);
afterAll(async () => {
  await endMembers();
  await crew?.close();
  for (const host of hosts) host.close();
}, LIMIT_MS);

async function refused(url: string, more: object = {}) {
  const { status, headers, body } = await client.post('/v1/scrape', { url, timeoutMs: PATIENT_MS, ...more });
  const details = body.error?.details as { jobId: string; until?: string } | undefined;
  return { status, code: body.error?.code, retryAfter: Number(headers.get('retry-after')), details };
}

test(
  'the api process answers at once what keeps a host that another process owns, and until when',
  async () => {
    const [limited, failing, closed, tier] = [hostAt(0), hostAt(1), hostAt(2), hostAt(3)];
    for (const path of ['/limited', '/page']) {
      const answer = await refused(limited.url + path);
      expect(answer).toMatchObject({ status: 503, code: 'HOST_RATE_LIMITED' });
      expect(answer.retryAfter).toBeGreaterThan(HOUR_SECONDS - 120);
      const job = await client.get(`/v1/jobs/${answer.details?.jobId}`);
      expect(job.body.data).toMatchObject({ status: 'cancelled', stopReason: 'wait:HOST_RATE_LIMITED' });
    }
    expect(limited.heard).toEqual(['/limited']);

    for (let each = 0; each < 5; each += 1)
      await refused(`${failing.url}/failing/${each}`, { maxAttempts: 1 });
    expect(await refused(`${failing.url}/page`, { timeoutMs: 60_000 })).toMatchObject({
      status: 503,
      code: 'CIRCUIT_OPEN',
    });
    expect(failing.heard).toHaveLength(5);

    const outside = await refused(`${closed.url}/page`);
    expect(outside).toMatchObject({ status: 503, code: 'OUTSIDE_HOURS' });
    expect(Date.parse(outside.details?.until ?? '') - Date.now()).toBeGreaterThan(HOUR_MS);

    expect(await refused(`${tier.url}/page`)).toMatchObject({ status: 503, code: 'NO_HEALTHY_PROXY' });
    expect([...closed.heard, ...tier.heard]).toEqual([]);
  },
  LIMIT_MS,
);

test(
  'a job that waits for a host shows it through the api process',
  async () => {
    const { url, key } = hostAt(2);
    const id = await client.accept('/v1/batch', { urls: [`${url}/1`, `${url}/2`] });
    await expect
      .poll(async () => (await client.get(`/v1/jobs/${id}`)).body.data?.waitingFor, { timeout: 30_000 })
      .toMatchObject([{ host: key, code: 'OUTSIDE_HOURS', tasks: 2 }]);
    await client.post(`/v1/jobs/${id}/cancel`, {});
  },
  LIMIT_MS,
);
