import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';
import { newKey, newSecret } from '../capabilities/accounts/api-key.ts';
import { runSchedules } from '../capabilities/schedules/schedule-runs.ts';
import { createVault } from '../capabilities/sessions/vault.ts';
import type { AccountId, JobId, ScheduleId } from '../core/model/ids.ts';
import type { KeyScope } from '../core/ports/key-store.ts';
import { defined } from '../lib/defined.ts';

const VAULT_KEY = '5a'.repeat(32);
const ACCOUNT = 'default' as AccountId;
const MINUTE_MS = 60_000;
/** The start of the tests is a Friday. */
const START = Date.parse('2027-01-15T08:00:00Z');

const clock = { now: START };
let platform: Platform;
beforeAll(async () => {
  const now = () => clock.now;
  platform = await openPlatform({ vaultKey: VAULT_KEY, maxQueuedUrls: 1_000 }, { now, storeNow: now });
});
afterAll(() => platform.close());

type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE';
const call = (method: Method, url: string, payload?: object, headers = {}) =>
  platform.call({ method, url, headers, ...defined({ payload }) });

const JOB = { kind: 'crawl', urls: ['https://example.com/'], maxPages: 5 };
const HOURLY = { name: 'hourly', cron: '0 * * * *', timeZone: 'Europe/Berlin', job: JOB };
const create = async (changes: object = {}) => {
  const made = await call('POST', '/v1/schedules', { ...HOURLY, ...changes });
  expect(made.statusCode).toBe(201);
  return made.at('data.id') as string;
};
const turn = () => {
  const { store, jobs } = platform;
  return runSchedules({ store, jobs, vault: createVault(VAULT_KEY), logger: { warn: () => undefined } });
};
const history = async (id: string) =>
  (await call('GET', `/v1/schedules/${id}/runs`)).at('data.items') as Record<string, unknown>[];

describe('a schedule', () => {
  it('is made, shown, listed, changed and deleted', async () => {
    const made = await call('POST', '/v1/schedules', HOURLY);
    expect(made.statusCode).toBe(201);
    const id = made.at('data.id') as string;
    expect(made.headers.location).toBe(`/v1/schedules/${id}`);
    expect(made.at('data')).toMatchObject({
      name: 'hourly',
      cron: '0 * * * *',
      everyMs: null,
      timeZone: 'Europe/Berlin',
      jitterMs: 0,
      overlap: 'skip',
      catchUp: 'one',
      activeHours: null,
      status: 'active',
      job: { kind: 'crawl', urls: ['https://example.com/'], maxPages: 5, sitemap: 'include' },
      nextRunAt: new Date(Math.ceil((clock.now + 1) / 3_600_000) * 3_600_000).toISOString(),
      links: { self: `/v1/schedules/${id}` },
    });
    expect((await call('GET', `/v1/schedules/${id}`)).at('data')).toEqual(made.at('data'));
    expect((await call('GET', '/v1/schedules')).at('data.items.0.id')).toBe(id);
    const changed = await call('PATCH', `/v1/schedules/${id}`, { every: '1h30m', overlap: 'queue' });
    expect(changed.at('data')).toMatchObject({
      cron: null,
      everyMs: 90 * MINUTE_MS,
      overlap: 'queue',
      name: 'hourly',
      nextRunAt: new Date(clock.now + 90 * MINUTE_MS).toISOString(),
    });
    expect((await call('DELETE', `/v1/schedules/${id}`)).at('data')).toEqual({ id, deleted: true });
    for (const [method, path] of [
      ['GET', ''],
      ['PATCH', ''],
      ['DELETE', ''],
      ['POST', '/run'],
      ['POST', '/pause'],
      ['POST', '/resume'],
      ['GET', '/runs'],
      ['GET', '/next'],
    ] as const) {
      const gone = await call(method, `/v1/schedules/${id}${path}`, method === 'PATCH' ? {} : undefined);
      expect([gone.statusCode, gone.at('error.code')]).toEqual([404, 'NOT_FOUND']);
    }
  });

  it.each([
    [{ cron: '0 0 31 2 *' }, 'cron', /never fires/],
    [{ cron: '61 * * * *' }, 'cron', /minute/],
    [{ cron: undefined }, 'cron', /`cron` or `every`/],
    [{ every: '5m' }, 'cron', /not both/],
    [{ cron: undefined, every: '500ms' }, 'every', /1 s to 366 days/],
    [{ cron: undefined, every: 'soon' }, 'every', /such as/],
    [{ cron: undefined, every: '59s' }, 'every', /less than 60 s apart/],
    [{ cron: undefined, every: 30_000 }, 'every', /less than 60 s apart/],
    [{ cron: '* * * * * *' }, 'cron', /less than 60 s apart/],
    [{ cron: '*/30 * * * * *' }, 'cron', /less than 60 s apart/],
    [{ cron: '0,59 0 0 1 1 *' }, 'cron', /less than 60 s apart/],
    [{ timeZone: 'Mars/Olympus' }, 'timeZone', /IANA/],
    [{ timeZone: '+02:00' }, 'timeZone', /IANA/],
    [{ activeHours: { from: '25:00', to: '26:00' } }, 'activeHours', /from/],
    [{ cron: '0 3 * * *', activeHours: { from: '08:00', to: '18:00' } }, 'activeHours', /never runs/],
    [{ cron: '0 5 29 2 *', activeHours: { from: '06:00', to: '07:00' } }, 'activeHours', /never runs/],
    [{ overlap: 'maybe' }, 'overlap', /./],
    [{ jitterMs: -1 }, 'jitterMs', /./],
    [{ job: { kind: 'crawl', urls: [] } }, 'job.urls', /urls/],
    [{ job: { kind: 'map', url: 'https://example.com/' } }, 'job.kind', /./],
    [{ job: { kind: 'scrape', url: 'https://example.com/', colour: 'red' } }, 'job.colour', /./],
    [{ name: '' }, 'name', /./],
  ])('with %j is refused under the field %s', async (changes, field, message) => {
    const refused = await call('POST', '/v1/schedules', { ...HOURLY, ...changes });
    expect([refused.statusCode, refused.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    expect(refused.at('error.details')).toContainEqual({ field, message: expect.stringMatching(message) });
  });

  it('is never changed or previewed to run faster than the least time', async () => {
    const id = (await call('POST', '/v1/schedules', HOURLY)).at('data.id');
    for (const [method, path, body] of [
      ['PATCH', `/v1/schedules/${id}`, { cron: '* * * * * *' }],
      ['PATCH', `/v1/schedules/${id}`, { every: '2s' }],
      ['POST', '/v1/schedules/preview', { cron: '*/5 * * * * *' }],
    ] as const) {
      const refused = await call(method, path, body);
      expect([refused.statusCode, refused.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
      expect(refused.at('error.message')).toMatch(/less than 60 s apart/);
    }
    await call('DELETE', `/v1/schedules/${id}`);
  });

  it('whose job would be refused is refused alike', async () => {
    const bad = { kind: 'batch', urls: ['https://example.com/', 'ftp://example.com/'] };
    const refused = await call('POST', '/v1/schedules', { ...HOURLY, job: bad });
    expect([refused.statusCode, refused.at('error.code')]).toEqual([422, 'INVALID_URL']);
    expect(refused.at('error.details.0.field')).toBe('job.urls.1');
    const consent = { kind: 'scrape', url: 'https://example.com/', obeyRobots: false };
    const denied = await call('POST', '/v1/schedules', { ...HOURLY, job: consent });
    expect([denied.statusCode, denied.at('error.code')]).toEqual([403, 'CONSENT_REQUIRED']);
  });

  it('is made once for an Idempotency-Key', async () => {
    const headers = { 'idempotency-key': 'make-it-once' };
    const first = await call('POST', '/v1/schedules', HOURLY, headers);
    const again = await call('POST', '/v1/schedules', HOURLY, headers);
    expect(again.at('data')).toEqual(first.at('data'));
    expect(again.headers['idempotency-replayed']).toBe('true');
    const other = await call('POST', '/v1/schedules', { ...HOURLY, name: 'other' }, headers);
    expect([other.statusCode, other.at('error.code')]).toEqual([409, 'IDEMPOTENCY_MISMATCH']);
    await call('DELETE', `/v1/schedules/${first.at('data.id')}`);
  });

  it('keeps secrets of its job sealed, and its runs have them', async () => {
    const job = {
      kind: 'scrape',
      url: 'https://secret.example/',
      headers: { authorization: 'Bearer very-secret', accept: 'text/html' },
      cookies: { sid: 'also-secret' },
      proxy: { url: 'http://user:hidden-password@proxy.example:8080' },
    };
    const webhook = {
      url: 'https://hooks.example/',
      secret: 'signing-secret',
      headers: { 'x-key': 'key-secret' },
    };
    const hooked = await create({ job: { ...JOB, webhook } });
    expect((await call('GET', `/v1/schedules/${hooked}`)).at('data.job.webhook')).toMatchObject({
      url: webhook.url,
      secret: '[hidden]',
      headers: { 'x-key': '[hidden]' },
    });
    const id = await create({ job });
    const shown = await call('GET', `/v1/schedules/${id}`);
    expect(shown.at('data.job')).toMatchObject({
      headers: { authorization: '[hidden]', accept: 'text/html' },
      cookies: { sid: '[hidden]' },
      proxy: { url: '[hidden]' },
    });
    const { items } = await platform.store.listSecrets({ kind: 'schedule', limit: 10 });
    const stored = items.map(({ data }) => Buffer.from(data).toString('utf8')).join();
    expect(stored).not.toMatch(/very-secret|also-secret|hidden-password|signing-secret|key-secret/);
    const run = await call('POST', `/v1/schedules/${id}/run`);
    expect(run.statusCode).toBe(202);
    const made = await platform.store.getJob(run.at('data.jobId') as JobId);
    expect(items).toHaveLength(2);
    expect(made?.options.page.headers).toEqual(job.headers);
    await call('DELETE', `/v1/schedules/${hooked}`);
    await platform.jobs.cancel(String(made?.id), ACCOUNT);
    await call('DELETE', `/v1/schedules/${id}`);
  });
});

it('without a time in its active hours for decades is refused, also as a preview and as a change', async () => {
  const never = { cron: '0 5 29 2 *', activeHours: { from: '06:00', to: '07:00' } };
  const id = await create();
  for (const refused of [
    await call('POST', '/v1/schedules/preview', never),
    await call('PATCH', `/v1/schedules/${id}`, never),
  ]) {
    expect([refused.statusCode, refused.at('error.details.0.field')]).toEqual([422, 'activeHours']);
  }
  const rare = { cron: '0 5 29 2 *', activeHours: { from: '05:00', to: '06:00', days: [1] } };
  const preview = await call('POST', '/v1/schedules/preview', rare);
  expect(preview.at('data.items.0.local')).toBe('2044-02-29T05:00:00');
  await call('DELETE', `/v1/schedules/${id}`);
});

describe('the key of a schedule', () => {
  const keyWith = async (scopes: readonly KeyScope[]) => {
    const secret = newSecret();
    const wish = { name: 'maker', scopes, ratePerMinute: null, expiresAt: null };
    const key = newKey(ACCOUNT, secret, wish, clock.now);
    await platform.store.createKey(key);
    return { id: key.id, headers: { 'x-api-key': secret } };
  };
  const run = (id: string) => call('POST', `/v1/schedules/${id}/run`);

  it('is the key of its jobs, and once it is revoked no run gets a job until another key saves it', async () => {
    const [maker, lesser] = [await keyWith(['schedules', 'credentials:read']), await keyWith(['schedules'])];
    const made = await call('POST', '/v1/schedules', HOURLY, maker.headers);
    const id = String(made.at('data.id'));
    const first = await run(id);
    const job = await platform.store.getJob(first.at('data.jobId') as JobId);
    expect(job?.keyId).toBe(maker.id);
    await platform.jobs.cancel(String(job?.id), ACCOUNT);

    await call('DELETE', `/v1/keys/${maker.id}`);
    const refused = await run(id);
    expect([refused.statusCode, refused.at('error.code')]).toEqual([403, 'FORBIDDEN']);
    expect((await history(id))[0]).toMatchObject({
      status: 'refused',
      reason: expect.stringContaining('was revoked; save the schedule again with another key'),
    });

    // A key that may do less with credentials does not take over what the job may do with them.
    await call('PATCH', `/v1/schedules/${id}`, { name: 'renamed' }, lesser.headers);
    expect((await run(id)).statusCode).toBe(403);
    await call('PATCH', `/v1/schedules/${id}`, { job: JOB }, lesser.headers);
    const again = await run(id);
    expect(again.statusCode).toBe(202);
    const later = await platform.store.getJob(again.at('data.jobId') as JobId);
    expect([later?.keyId, later?.options.credentials]).toEqual([lesser.id, 'none']);
    await platform.jobs.cancel(String(later?.id), ACCOUNT);
    await call('DELETE', `/v1/schedules/${id}`);
  });
});

describe('the next times', () => {
  it('of a schedule that is not stored are ten', async () => {
    clock.now = Date.parse('2027-03-27T12:00:00Z');
    const preview = await call('POST', '/v1/schedules/preview', {
      cron: '30 2 * * *',
      timeZone: 'Europe/Berlin',
    });
    const items = preview.at('data.items') as { at: string; local: string }[];
    expect(items).toHaveLength(10);
    // On 28 March 2027 the clock jumps from 02:00 to 03:00.
    expect(items.slice(0, 2)).toEqual([
      { at: '2027-03-28T01:00:00.000Z', local: '2027-03-28T03:00:00', runsAt: '2027-03-28T01:00:00.000Z' },
      { at: '2027-03-29T00:30:00.000Z', local: '2027-03-29T02:30:00', runsAt: '2027-03-29T00:30:00.000Z' },
    ]);
    expect((await call('POST', '/v1/schedules/preview', { timeZone: 'UTC' })).statusCode).toBe(422);
  });

  it('of a stored schedule have its jitter, also while it is paused', async () => {
    const id = await create({ jitterMs: 10 * MINUTE_MS });
    const next = (await call('GET', `/v1/schedules/${id}/next`)).at('data.items') as Record<string, string>[];
    expect(next).toHaveLength(10);
    for (const { at = '', runsAt = '' } of next) {
      const delay = Date.parse(runsAt) - Date.parse(at);
      expect(delay).toBeGreaterThanOrEqual(0);
      expect(delay).toBeLessThan(10 * MINUTE_MS);
    }
    expect((await call('GET', `/v1/schedules/${id}`)).at('data.nextRunAt')).toBe(next[0]?.runsAt);
    await call('POST', `/v1/schedules/${id}/pause`);
    expect((await call('GET', `/v1/schedules/${id}/next`)).at('data.items')).toEqual(next);
    await call('DELETE', `/v1/schedules/${id}`);
  });
});

describe('runs', () => {
  /** A schedule whose next tick is at the whole hour that follows. */
  async function atTick(changes: object = {}): Promise<string> {
    clock.now = Math.ceil((clock.now + 1) / 3_600_000) * 3_600_000 - MINUTE_MS;
    return create(changes);
  }
  const nextTick = async () => {
    clock.now += 60 * MINUTE_MS;
    await turn();
  };

  it('are made by ticks, with jobs that name the schedule', async () => {
    const id = await atTick();
    await turn();
    expect(await history(id)).toEqual([]);
    clock.now += MINUTE_MS;
    await turn();
    await turn();
    const [run, ...more] = await history(id);
    expect(more).toEqual([]);
    expect(run).toMatchObject({
      scheduleId: id,
      trigger: 'tick',
      at: new Date(clock.now).toISOString(),
      isLate: false,
      status: 'started',
      jobStatus: 'queued',
    });
    const jobs = await call('GET', `/v1/jobs?schedule=${id}`);
    expect(jobs.at('data.items')).toMatchObject([{ id: run?.jobId, scheduleId: id, kind: 'crawl' }]);
    expect((await call('GET', `/v1/schedules/${id}/runs/${run?.id}`)).at('data')).toEqual(run);
    await platform.jobs.cancel(String(run?.jobId), ACCOUNT);
    expect((await history(id))[0]).toMatchObject({ jobStatus: 'cancelled' });
    await call('DELETE', `/v1/schedules/${id}`);
  });

  it('are skipped while the job before goes on, with the reason', async () => {
    const id = await atTick();
    await nextTick();
    await nextTick();
    const [second, first] = await history(id);
    expect(second).toMatchObject({
      status: 'skipped',
      reason: `The job before goes on: ${first?.jobId}`,
      jobId: null,
    });
    const refused = await call('POST', `/v1/schedules/${id}/run`);
    expect([refused.statusCode, refused.at('error.code')]).toEqual([409, 'CONFLICT']);
    await call('DELETE', `/v1/schedules/${id}`);
    await platform.jobs.cancel(String(first?.jobId), ACCOUNT);
  });

  it('wait for the job before, one at most, where overlaps are queued', async () => {
    const id = await atTick({ overlap: 'queue' });
    for (let ticks = 0; ticks < 3; ticks++) await nextTick();
    const [third, second, first] = await history(id);
    expect([third?.status, second?.status, first?.status]).toEqual(['skipped', 'waiting', 'started']);
    await platform.jobs.cancel(String(first?.jobId), ACCOUNT);
    await turn();
    const [, begun] = await history(id);
    expect(begun).toMatchObject({ status: 'started', id: second?.id });
    await call('DELETE', `/v1/schedules/${id}`);
    await platform.jobs.cancel(String(begun?.jobId), ACCOUNT);
  });

  it('cancel the job before where that is asked for', async () => {
    const id = await atTick({ overlap: 'cancelPrevious' });
    await nextTick();
    await nextTick();
    const [second, first] = await history(id);
    expect([second?.status, second?.jobStatus]).toEqual(['started', 'queued']);
    expect([first?.status, first?.jobStatus]).toEqual(['started', 'cancelled']);
    await call('DELETE', `/v1/schedules/${id}`);
    await platform.jobs.cancel(String(second?.jobId), ACCOUNT);
  });

  it('that are refused are in the history, and the next tick tries again', async () => {
    const urls = Array.from({ length: 1_200 }, (_, index) => `https://example.com/${index}`);
    const id = await atTick({ job: { kind: 'batch', urls } });
    await nextTick();
    await turn();
    expect(await history(id)).toMatchObject([
      { status: 'refused', reason: expect.stringMatching(/^VALIDATION_FAILED: /), jobId: null },
    ]);
    const refused = await call('POST', `/v1/schedules/${id}/run`);
    expect([refused.statusCode, refused.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    await call('PATCH', `/v1/schedules/${id}`, { job: JOB });
    await nextTick();
    const [run] = await history(id);
    expect(run).toMatchObject({ status: 'started' });
    await call('DELETE', `/v1/schedules/${id}`);
    await platform.jobs.cancel(String(run?.jobId), ACCOUNT);
  });

  it('are none while the schedule is paused, and none is made up for', async () => {
    const id = await atTick();
    expect((await call('POST', `/v1/schedules/${id}/pause`)).at('data')).toMatchObject({
      status: 'paused',
      nextRunAt: null,
    });
    for (let ticks = 0; ticks < 3; ticks++) await nextTick();
    expect(await history(id)).toEqual([]);
    const resumed = await call('POST', `/v1/schedules/${id}/resume`);
    expect(resumed.at('data')).toMatchObject({
      status: 'active',
      nextRunAt: expect.stringMatching(/:00:00/),
    });
    await turn();
    expect(await history(id)).toEqual([]);
    await nextTick();
    expect(await history(id)).toHaveLength(1);
    await call('DELETE', `/v1/schedules/${id}`);
  });

  it('are none while the account is disabled', async () => {
    const id = await atTick();
    await platform.store.changeAccount(ACCOUNT, { isDisabled: true });
    await nextTick();
    await platform.store.changeAccount(ACCOUNT, { isDisabled: false });
    expect(await history(id)).toMatchObject([
      { status: 'skipped', reason: 'The account is disabled', jobId: null },
    ]);
    await nextTick();
    const [run] = await history(id);
    expect(run).toMatchObject({ status: 'started' });
    await call('DELETE', `/v1/schedules/${id}`);
    await platform.jobs.cancel(String(run?.jobId), ACCOUNT);
  });

  it('begin at once when asked for, once for an Idempotency-Key, also while the schedule is paused', async () => {
    const id = await atTick();
    await call('POST', `/v1/schedules/${id}/pause`);
    const headers = { 'idempotency-key': `run-${id}` };
    const run = await call('POST', `/v1/schedules/${id}/run`, undefined, headers);
    expect(run.statusCode).toBe(202);
    expect(run.at('data')).toMatchObject({ trigger: 'manual', status: 'started', jobStatus: 'queued' });
    const again = await call('POST', `/v1/schedules/${id}/run`, undefined, headers);
    expect(again.at('data')).toEqual(run.at('data'));
    expect(await history(id)).toHaveLength(1);
    await call('DELETE', `/v1/schedules/${id}`);
    await platform.jobs.cancel(String(run.at('data.jobId')), ACCOUNT);
  });

  it('that were missed are one entry, and one late run makes up for them', async () => {
    const id = await atTick();
    clock.now += 5 * 60 * MINUTE_MS;
    await turn();
    const [late, missed] = await history(id);
    expect(late).toMatchObject({ status: 'started', isLate: true });
    expect(missed).toMatchObject({ status: 'missed', missed: { count: 4 }, jobId: null });
    await call('DELETE', `/v1/schedules/${id}`);
    await platform.jobs.cancel(String(late?.jobId), ACCOUNT);
  });
});

it('an account has at most 1,000 schedules: one more is refused, unless the request repeats an earlier one', async () => {
  const repeated = { 'idempotency-key': 'the-first-of-many' };
  const first = await call('POST', '/v1/schedules', HOURLY, repeated);
  const model = await platform.store.getSchedule(ACCOUNT, first.at('data.id') as ScheduleId);
  if (model === null) throw new Error('The schedule was not stored.');
  const missing = 1_000 - (await platform.store.countSchedules(ACCOUNT));
  await Promise.all(
    Array.from({ length: missing }, (_, index) =>
      platform.store.createSchedule({ ...model, id: `filler-${index}` as ScheduleId }),
    ),
  );
  const refused = await call('POST', '/v1/schedules', HOURLY);
  expect([refused.statusCode, refused.at('error.code')]).toEqual([409, 'CONFLICT']);
  expect(refused.at('error.message')).toContain('1000 schedules');
  expect((await call('POST', '/v1/schedules', HOURLY, repeated)).at('data.id')).toBe(model.id);
  await platform.store.deleteSchedule(ACCOUNT, 'filler-0' as ScheduleId);
  expect((await call('POST', '/v1/schedules', HOURLY)).statusCode).toBe(201);
});
