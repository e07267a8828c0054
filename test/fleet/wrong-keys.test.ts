import { Redis } from 'ioredis';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import { type ApiClient, createApiClient, look } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers } from './member.ts';

const LIMIT_MS = 150_000;
const PAGES = 10;
const until = (condition: () => void | Promise<void>) =>
  vi.waitFor(condition, { timeout: 60_000, interval: 100 });

let site: RemoteSite;
let crew: Crew;
let api: CrewMember;
let worker: CrewMember;
let client: ApiClient;
let redis: Redis;
beforeAll(async () => {
  site = await spawnSite({ pages: PAGES });
  crew = await gatherCrew();
  redis = new Redis(crew.place.redisUrl);
  [api, worker] = await Promise.all([crew.add('api'), crew.add('http-worker')]);
  client = createApiClient(() => api.origin, crew.apiKey);
}, LIMIT_MS);
/** What a case has made of a wrong type, whether or not it came to its end. */
const made: string[] = [];
afterEach(async () => {
  for (const key of made.splice(0)) await redis.del(key);
});
afterAll(async () => {
  redis?.disconnect();
  await crew?.close();
  await endMembers();
  await site?.close();
}, LIMIT_MS);

const keyOf = (name: string) => `${crew.place.redisPrefix}:${name}`;
const crawl = (n: number) =>
  client.accept('/v1/crawl', { urls: [`${site.hostUrl(n)}/big/`], sitemap: 'skip' });

async function partOf(member: CrewMember, part: string): Promise<{ http: number; status: unknown }> {
  const { status, body } = await look(member.origin, '/readyz');
  const told = (body.data ?? body.error?.details ?? {}) as { parts?: Record<string, { status: unknown }> };
  return { http: status, status: told.parts?.[part]?.status };
}

/** Reasons that the log gives for parts that do not work. */
const reasons = (member: CrewMember) =>
  member.lines('a part does not work').map(({ part, reason }) => `${String(part)}: ${String(reason)}`);

describe('keys of a wrong type in Redis', { timeout: LIMIT_MS }, () => {
  it.each(['prioritized', 'pc', 'events', 'active', 'stalled'])(
    'the key %s of the queue makes /readyz say so, with its name in the log, until it is deleted',
    async (part) => {
      const key = keyOf(`scrape-http:${part}`);
      made.push(key);
      await redis.del(key);
      if (part === 'active' || part === 'prioritized') await redis.set(key, 'not ours');
      else await redis.rpush(key, 'not ours');
      await until(async () =>
        expect(await partOf(worker, 'queue')).toEqual({ http: 503, status: 'failing' }),
      );
      await until(async () => expect(await partOf(api, 'queue')).toEqual({ http: 200, status: 'degraded' }));
      for (const member of [api, worker]) {
        await until(() => expect(reasons(member).join('\n')).toContain(`DEL ${key}`));
      }
      const job = await crawl(1);
      await redis.del(key);
      for (const member of [api, worker]) {
        await until(async () => expect(await partOf(member, 'queue')).toEqual({ http: 200, status: 'ok' }));
      }
      expect(await client.ended(job)).toMatchObject({
        status: 'completed',
        progress: { known: PAGES, pages: PAGES, failed: 0 },
      });
    },
  );

  it('a key of one host degrades the queue, is named, and the others go on', async () => {
    const { host } = new URL(site.hostUrl(2));
    const bad = keyOf(`scrape-http:de:${host}`);
    made.push(bad);
    await redis.rpush(bad, 'not ours');
    const blocked = await crawl(2);
    const other = await crawl(3);
    expect(await client.ended(other)).toMatchObject({ status: 'completed' });
    await until(async () => expect(await partOf(worker, 'queue')).toEqual({ http: 200, status: 'degraded' }));
    await until(() => expect(reasons(worker).join('\n')).toContain(bad));
    await redis.del(bad);
    expect(await client.ended(blocked)).toMatchObject({ status: 'completed' });
    await until(async () => expect(await partOf(worker, 'queue')).toEqual({ http: 200, status: 'ok' }));
  });

  it('a limit that cannot be counted degrades the API, which goes on', async () => {
    expect(await partOf(api, 'limits')).toEqual({ http: 200, status: 'ok' });
    expect((await client.get('/v1/jobs')).status).toBe(200);
    const [key = ''] = (await redis.keys(keyOf('limit:*'))).filter((each) => !each.endsWith('probe'));
    made.push(key);
    await redis.del(key);
    await redis.rpush(key, 'not ours');
    await until(async () => {
      expect((await client.get('/v1/jobs')).status).toBe(200);
      expect(await partOf(api, 'limits')).toEqual({ http: 200, status: 'degraded' });
    });
    await until(() => expect(reasons(api).join('\n')).toContain(`DEL ${key}`));
    await redis.del(key);
    await until(async () => expect(await partOf(api, 'limits')).toEqual({ http: 200, status: 'ok' }));
  });
});
