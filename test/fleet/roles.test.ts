import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listMetrics } from '../../scripts/metric-list.ts';
import { ROLES, type Role } from '../../src/core/config/settings.ts';
import { EXIT } from '../../src/core/errors/registry.ts';
import { POSTGRES_MIGRATIONS } from '../../src/drivers/store-postgres/schema/migrations.ts';
import { type RemoteSite, spawnSite } from '../site/remote-site.ts';
import { type ApiClient, createApiClient, look } from './api-client.ts';
import { type Crew, type CrewMember, gatherCrew } from './crew.ts';
import { endMembers, launch, type MemberSettings } from './member.ts';

const LIMIT_MS = 90_000;
const PARTS = ROLES.filter((role) => role !== 'all');
const ANSWERS_THE_API: ReadonlySet<Role> = new Set(['api', 'all']);

/** Which roles of a fleet have the metrics that docs/metrics.md says are of these processes. */
const HAS: Readonly<Record<string, readonly Role[]>> = {
  'every process': ROLES,
  'workers that fetch': ['http-worker', 'all'],
  'API and scheduler': ['api', 'scheduler', 'all'],
  'processes with browsers': ['browser-worker', 'stealth-worker', 'all'],
  scheduler: ['scheduler', 'all'],
  'with Redis': ROLES,
};

let dir: string;
let site: RemoteSite;
let crew: Crew;
let members: Map<Role, CrewMember>;
let client: ApiClient;
const member = (role: Role): CrewMember => {
  const found = members.get(role);
  if (found === undefined) throw new Error(`no ${role}`);
  return found;
};
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'scrapifie-roles-'));
  site = await spawnSite({ pages: 30 });
  crew = await gatherCrew();
  // At once, on an empty database: one of them makes the schema, the others find it.
  members = new Map(await Promise.all(ROLES.map(async (role) => [role, await crew.add(role)] as const)));
  client = createApiClient(() => member('api').origin, crew.apiKey);
}, LIMIT_MS);
afterAll(async () => {
  await crew?.close();
  await endMembers();
  await site?.close();
  await rm(dir, { recursive: true, force: true });
}, LIMIT_MS);

describe('each role', { timeout: LIMIT_MS }, () => {
  it.each(ROLES)('%s tells how it does, and answers the API only where that is its role', async (role) => {
    const { origin } = member(role);
    expect((await look(origin, '/healthz')).body.data).toMatchObject({ status: 'ok' });
    expect((await look(origin, '/readyz')).body.data).toMatchObject({ status: 'ready' });
    const metrics = await look(origin, '/metrics');
    expect(metrics.status).toBe(200);
    const names = [...metrics.text.matchAll(/^# TYPE (scrapifie_\w+) /gm)].map(([, name]) => name);
    const listed = listMetrics().filter(({ of }) => HAS[of]?.includes(role) === true);
    expect(names.sort()).toEqual(listed.map(({ name }) => name).sort());
    const here = createApiClient(() => origin, crew.apiKey);
    const answers = [
      await here.get('/v1/jobs'),
      await here.post('/v1/scrape', { url: `${site.hostUrl(1)}/big/` }),
      await here.get('/v1/keys'),
      await here.get('/docs'),
      await here.get('/openapi.json'),
    ];
    const statuses = answers.map(({ status }) => status);
    expect(statuses).toEqual(Array(5).fill(ANSWERS_THE_API.has(role) ? 200 : 404));
  });

  it('of those that answer the API lets in only who has a key', async () => {
    const stranger = createApiClient(() => member('api').origin, 'not-a-key-of-this-fleet');
    expect((await stranger.get('/v1/jobs')).status).toBe(401);
  });
});

describe('settings that cannot be right together', { timeout: LIMIT_MS }, () => {
  const all = () => {
    const { databaseUrl, redisUrl, s3Url } = crew.place;
    return { databaseUrl, redisUrl, s3Url };
  };
  const cases: readonly (readonly [Role, keyof ReturnType<typeof all>, string])[] = [
    ['http-worker', 'databaseUrl', 'SCRAPIFIE_DATABASE_URL'],
    ['scheduler', 'redisUrl', 'SCRAPIFIE_REDIS_URL'],
    ['api', 's3Url', 'SCRAPIFIE_S3_URL'],
  ];
  async function refused(role: Role, settings: MemberSettings): Promise<string> {
    const one = launch(join(dir, role), ['serve', '--role', role, '--port', '0'], settings);
    expect(await one.ended, one.output()).toBe(EXIT.environment);
    expect(one.output()).toContain('error INVALID_SETTINGS: ');
    return one.output();
  }

  it.each(cases)('%s without %s is refused and told what is missing', async (role, missing, variable) => {
    const settings: MemberSettings = { ...all(), [missing]: undefined };
    const output = await refused(role, settings);
    expect(output).toContain(`the role ${role} is a part of a fleet`);
    expect(output).toContain(`${variable} is not set`);
  });

  it('every part of a fleet without anything is told all of it', async () => {
    for (const output of await Promise.all(PARTS.map((role) => refused(role, {})))) {
      for (const [, , variable] of cases) expect(output).toContain(`${variable} is not set`);
    }
  });

  it('a role that there is not is refused', async () => {
    const one = launch(join(dir, 'odd'), ['serve', '--role', 'wizard'], {});
    expect(await one.ended).toBe(EXIT.usage);
    expect(one.output()).toMatch(/wizard.*http-worker/s);
  });
});

describe('schedulers', { timeout: LIMIT_MS }, () => {
  const slow = (n: number) =>
    client.accept('/v1/batch', {
      urls: Array.from({ length: 500 }, (_, at) => `${site.hostUrl(n)}/slow/late/300?page=${at}`),
      maxDurationMs: 2_000,
    });

  it('two at once, and the one that is left, end what is over once', async () => {
    const [first, second] = [await crew.add('scheduler'), await crew.add('scheduler')];
    // The others that can would hide what these do.
    for (const role of ['scheduler', 'all'] as const) {
      member(role).signal('SIGTERM');
      expect(await member(role).ended).toBe(EXIT.ok);
    }
    const together = await client.ended(await slow(2), 30_000);
    expect(together).toMatchObject({ stopReason: 'budget.duration' });
    first.signal('SIGKILL');
    await first.ended;
    const alone = await client.ended(await slow(3), 60_000);
    expect(alone).toMatchObject({ stopReason: 'budget.duration' });
    for (const { progress } of [together, alone]) {
      const { known, pages, skipped, open } = progress as Record<string, number>;
      expect({ open, ended: (pages ?? 0) + (skipped ?? 0) }).toEqual({ open: 0, ended: known });
    }
    expect(second.exitCode).toBeNull();
    expect(second.output()).not.toContain('"level":"error"');
  });
});

describe('a schema that is one version ahead', { timeout: LIMIT_MS }, () => {
  it('is worked with by processes that run, and by those that start', async () => {
    await crew.sql('INSERT INTO schema_versions (version, min_reader) VALUES ($1, $2)', [
      POSTGRES_MIGRATIONS.length + 1,
      POSTGRES_MIGRATIONS.length,
    ]);
    const later = await crew.add('api');
    for (const origin of [member('api').origin, later.origin]) {
      const answer = await createApiClient(() => origin, crew.apiKey).post('/v1/scrape', {
        url: `${site.hostUrl(4)}/big/`,
      });
      expect(answer).toMatchObject({ status: 200, body: { success: true } });
    }
  });
});

describe('SIGTERM', { timeout: LIMIT_MS }, () => {
  it('ends every role with exit code 0 and a last word', async () => {
    for (const one of members.values()) if (one.exitCode === null) one.signal('SIGTERM');
    for (const [role, one] of members) {
      expect(await one.ended, `${role}: ${one.output()}`).toBe(EXIT.ok);
      expect(one.lines('stopped')).toHaveLength(1);
    }
  });
});
