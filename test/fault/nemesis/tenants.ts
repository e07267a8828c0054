import { setTimeout as delay } from 'node:timers/promises';
import { netUrl } from '../../site/pages/net.ts';
import { createFleetClient, type FleetClient } from './fleet-client.ts';
import type { DeliveryRecord, ReceivedRecord, TenantRecord } from './history.ts';
import { startReceiver } from './receiver.ts';
import type { ApiJob } from './records.ts';

export interface TenantsOptions {
  readonly origin: string;
  /** With the key of the operator. */
  readonly operator: FleetClient;
  readonly patienceMs: number;
  /** Port of the test site. */
  readonly port: number;
  readonly random: () => number;
  readonly count: number;
}

/** Accounts that use the platform beside the crawls: credits, webhooks with a receiver that fails at times, schedules. */
export interface Tenants {
  /** Small jobs one after the other, for as long as there is more to do. */
  run(isMoreWanted: () => boolean): Promise<void>;
  /** Pauses the schedules and waits until every job has ended and every event was delivered, up to `limitMs`. */
  settle(limitMs: number): Promise<void>;
  readonly received: readonly ReceivedRecord[];
  record(): Promise<TenantRecord[]>;
  /** Deletes the accounts with everything of them. */
  remove(limitMs: number): Promise<void>;
  close(): Promise<void>;
}

interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly client: FleetClient;
  readonly webhookId: string;
  readonly scheduleId: string;
}

const WEB = { hosts: 10, pagesPerHost: 9_000 };
const PAGES_PER_JOB = 3;
const EVERY_SECONDS = 3;
const GRANT = 50;
const GRANTS = 4;
const BETWEEN_JOBS_MS = 500;
const LOOK_MS = 500;
const MOST_LISTED = 1_000;
const DEFAULT_PAGE = 1;

export async function openTenants(options: TenantsOptions): Promise<Tenants> {
  const { operator, port, random } = options;
  const receiver = await startReceiver(random);
  let pages = 0;
  let jobs = 0;
  const nextUrl = () => {
    pages += 1;
    const page = { host: pages % WEB.hosts, page: DEFAULT_PAGE + (pages % (WEB.pagesPerHost - 1)) };
    return netUrl(WEB, page, port);
  };
  const tenants = await Promise.all(
    Array.from({ length: options.count }, (_, index) => openTenant(`tenant-${index + 1}`)),
  );

  async function openTenant(id: string): Promise<Tenant> {
    const name = `Name of ${id}`;
    const made = await operator.ask('POST', '/v1/accounts', {
      body: { id, name },
      idempotencyKey: `account-${id}`,
    });
    const apiKey = (made.data as { key: { secret: string } }).key.secret;
    const client = createFleetClient({ origin: options.origin, apiKey, patienceMs: options.patienceMs });
    const plan = { monthlyCredits: 10_000, lowCredits: 1 };
    await operator.ask('PUT', `/v1/accounts/${id}/credits`, { body: plan });
    const webhook = await client.ask('POST', '/v1/webhooks', {
      body: { url: `${receiver.origin}/${id}`, events: ['job.*'] },
      idempotencyKey: `webhook-${id}`,
    });
    const schedule = await client.ask('POST', '/v1/schedules', {
      body: {
        name: 'ticks',
        every: `${EVERY_SECONDS}s`,
        overlap: 'queue',
        job: { kind: 'batch', urls: [nextUrl()] },
      },
      idempotencyKey: `schedule-${id}`,
    });
    const idOf = ({ data }: { readonly data: unknown }) => (data as { id: string }).id;
    return { id, name, client, webhookId: idOf(webhook), scheduleId: idOf(schedule) };
  }

  async function listed<T>(client: FleetClient, path: string): Promise<T[]> {
    const found: T[] = [];
    let cursor = '';
    do {
      const mark = path.includes('?') ? '&' : '?';
      const { data } = await client.ask('GET', `${path}${mark}limit=${MOST_LISTED}${cursor}`);
      const { items, nextCursor } = data as { items: T[]; nextCursor: string | null };
      found.push(...items);
      cursor = nextCursor === null ? '' : `&cursor=${encodeURIComponent(nextCursor)}`;
    } while (cursor !== '');
    return found;
  }

  async function waitFor(limitMs: number, isOver: () => Promise<boolean>): Promise<void> {
    const deadline = performance.now() + limitMs;
    while (!(await isOver()) && performance.now() < deadline) await delay(LOOK_MS);
  }

  async function isSettled({ client, webhookId }: Tenant): Promise<boolean> {
    const open = (await listed<ApiJob>(client, '/v1/jobs')).some(({ finishedAt }) => finishedAt === null);
    if (open) return false;
    const { data } = await client.ask('GET', `/v1/webhooks/${webhookId}/deliveries?state=pending&limit=1`);
    return (data as { items: unknown[] }).items.length === 0;
  }

  async function recordOf(tenant: Tenant, others: readonly TenantRecord[]): Promise<TenantRecord> {
    const { id, client, webhookId, scheduleId } = tenant;
    const { data: credits } = await operator.ask('GET', `/v1/accounts/${id}/credits`);
    const entries = await listed<{ amount: number }>(operator, `/v1/accounts/${id}/credits/entries`);
    const usage = await listed<{ credits: number }>(client, '/v1/usage?by=day');
    const jobs = await listed<ApiJob>(client, '/v1/jobs');
    const deliveries = await listed<DeliveryRecord & { createdAt: string; endedAt: string | null }>(
      client,
      `/v1/webhooks/${webhookId}/deliveries`,
    );
    const runs = await listed<TenantRecord['runs'][number]>(client, `/v1/schedules/${scheduleId}/runs`);
    const foreign = [
      ...tenants
        .filter((other) => other.id !== id)
        .flatMap((other) => [`/v1/webhooks/${other.webhookId}`, `/v1/schedules/${other.scheduleId}`]),
      ...others.flatMap((other) => other.jobs.slice(0, 2).map((job) => `/v1/jobs/${job.id}`)),
    ];
    const answers = await Promise.all(
      foreign.map(async (path) => ({ path, status: (await client.ask('GET', path)).status })),
    );
    return {
      ...{ id, webhookId, scheduleId, everyMs: EVERY_SECONDS * 1_000 },
      credits: (credits as { credits: TenantRecord['credits'] }).credits,
      granted: entries.reduce((sum, { amount }) => sum + amount, 0),
      used: usage.reduce((sum, line) => sum + line.credits, 0),
      jobs: jobs.map(({ id: jobId, status, finishedAt }) => ({
        ...{ id: jobId, status },
        finishedAt: finishedAt === null ? null : Date.parse(finishedAt),
      })),
      deliveries: deliveries.map(({ id: deliveryId, eventId, event, jobId, state, endedAt }) => ({
        ...{ id: deliveryId, eventId, event, jobId, state },
        endedAt: endedAt === null ? null : Date.parse(String(endedAt)),
      })),
      runs,
      foreign: answers,
    };
  }

  return {
    received: receiver.received,
    async run(isMoreWanted) {
      await Promise.all(
        tenants.map(async ({ id, client }) => {
          for (let round = 1; ; round += 1) {
            jobs += 1;
            const urls = Array.from({ length: PAGES_PER_JOB }, nextUrl);
            await client.ask('POST', '/v1/batch', { body: { urls }, idempotencyKey: `batch-${id}-${jobs}` });
            if (round <= GRANTS) {
              await operator.ask('POST', `/v1/accounts/${id}/credits`, {
                body: { amount: GRANT, reason: `grant ${round}` },
                idempotencyKey: `grant-${id}-${round}`,
              });
            }
            if (!isMoreWanted()) return;
            await delay(BETWEEN_JOBS_MS);
          }
        }),
      );
    },
    async settle(limitMs) {
      for (const { client, scheduleId } of tenants) {
        await client.ask('POST', `/v1/schedules/${scheduleId}/pause`);
      }
      receiver.behave();
      await Promise.all(tenants.map((tenant) => waitFor(limitMs, () => isSettled(tenant))));
    },
    async record() {
      const records: TenantRecord[] = [];
      for (const tenant of tenants) records.push(await recordOf(tenant, records));
      return records;
    },
    async remove(limitMs) {
      for (const { id, name } of tenants) {
        const path = `/v1/accounts/${id}?confirm=${encodeURIComponent(name)}`;
        await waitFor(limitMs, async () => (await operator.ask('DELETE', path)).status === 404);
      }
    },
    close: () => receiver.close(),
  };
}
