import { expect } from 'vitest';
import type {
  AccountId,
  ChangeId,
  JobId,
  MonitorId,
  ScheduleId,
  WebhookId,
} from '../../../src/core/model/ids.ts';
import type { Monitor, MonitorSettings } from '../../../src/core/model/monitor.ts';
import type { MonitorCheck, NewMonitor, NewMonitorChange } from '../../../src/core/ports/monitor-store.ts';
import type { NewSchedule } from '../../../src/core/ports/schedule-store.ts';
import { afterKill, type Claim } from '../contract.ts';
import { eventsUntil } from './events-contract.ts';
import { T0 } from './fixtures.ts';
import type { TimedStore } from './timed-store.ts';

const HOUR_MS = 3_600_000;
const MOST = 1_000;
const SOMEBODY_ELSE = 'somebody-else' as AccountId;
const SETTINGS: MonitorSettings = {
  target: 'urls',
  rules: { confirm: 3, settleMs: 6 * HOUR_MS, failAfter: 3, learnNoise: true },
  diff: { watch: { text: true } },
  maxPages: 500,
  recheckMs: 30_000,
  webhookIds: [],
};
const SUMMARY = { pages: 2, changes: 1, failed: 0, isCovered: false, hasBaseline: true };

let made = 0;
function newMonitor(accountId: AccountId): { monitor: NewMonitor; schedule: NewSchedule } {
  made += 1;
  const [id, scheduleId] = [`monitor-${made}` as MonitorId, `monitor-schedule-${made}` as ScheduleId];
  return {
    monitor: { id, accountId, scheduleId, name: 'prices ✓', settings: SETTINGS, createdAt: T0 },
    schedule: {
      id: scheduleId,
      accountId,
      name: 'prices ✓',
      timing: { cron: null, everyMs: HOUR_MS, anchorAt: T0, timeZone: 'UTC', activeHours: null },
      jitterMs: 0,
      overlap: 'skip',
      catchUp: 'one',
      job: { kind: 'batch', request: { urls: ['https://example.com/'] }, credentials: 'use', monitorId: id },
      isPaused: false,
      nextTickAt: T0 + HOUR_MS,
      dueAt: T0 + HOUR_MS,
      createdAt: T0,
    },
  };
}

async function stored(store: TimedStore): Promise<Monitor> {
  store.at(T0);
  const { monitor, schedule } = newMonitor(await store.defaultAccount());
  return (await store.plain.createMonitor(monitor, schedule, MOST)) as Monitor;
}

const bytes = (text: string) => new Uint8Array(Buffer.from(text));

function change(url: string, kind: NewMonitorChange['kind'] = 'MODIFIED'): NewMonitorChange {
  made += 1;
  return {
    id: `chg_${made}` as ChangeId,
    kind,
    url,
    fromUrl: null,
    title: 'A page ✓',
    summary: 'price: 1 → 2',
    data: bytes('{}'),
  };
}

function check(monitor: Monitor, job: string, rest: Partial<MonitorCheck> = {}): MonitorCheck {
  return {
    accountId: monitor.accountId,
    monitorId: monitor.id,
    jobId: job as JobId,
    checks: monitor.checks,
    revision: monitor.revision,
    summary: SUMMARY,
    pages: [],
    changes: [],
    recheck: null,
    events: [],
    ...rest,
  };
}

const pagesOf = async ({ plain }: TimedStore, { accountId, id }: Monitor, urls?: readonly string[]) =>
  (await plain.listMonitorPages({ accountId, monitorId: id, urls, limit: 100 })).map(({ url, state }) => [
    url,
    Buffer.from(state).toString('utf8'),
  ]);

const changesOf = ({ plain }: TimedStore, { accountId, id }: Monitor) =>
  plain.listMonitorChanges({ accountId, monitorId: id, limit: 100 });

/** Monitors: a check is recorded once, with its changes and their events. */
export function monitorsContract(holds: Claim<TimedStore>): void {
  holds('keeps a monitor with its schedule, once for its id', async (store, opened) => {
    const { monitor, schedule } = newMonitor(await store.defaultAccount());
    const kept = await store.createMonitor(monitor, schedule, MOST);
    expect(kept).toEqual({
      ...monitor,
      revision: 1,
      checks: 0,
      lastCheck: null,
      lastChangeAt: null,
      recheckAt: null,
      updatedAt: T0,
    });
    expect(await store.createMonitor({ ...monitor, name: 'another' }, schedule, 0)).toEqual(kept);
    expect((await store.getSchedule(monitor.accountId, schedule.id))?.job.monitorId).toBe(monitor.id);
    expect(await store.getMonitor(SOMEBODY_ELSE, monitor.id)).toBeNull();
    await afterKill(opened, async (again) => {
      expect(await again.getMonitor(monitor.accountId, monitor.id)).toEqual(kept);
    });
  });

  holds('makes no more monitors than an account may have, and no schedule for those', async (store) => {
    const accountId = await store.defaultAccount();
    const { items } = await store.listMonitors({ accountId, limit: 1_000 });
    const { monitor, schedule } = newMonitor(accountId);
    expect(await store.createMonitor(monitor, schedule, items.length)).toBeNull();
    expect(await store.getSchedule(accountId, schedule.id)).toBeNull();
  });

  holds('lists monitors of one account, newest first, page by page', async (store) => {
    const ids: MonitorId[] = [];
    for (let index = 0; index < 4; index += 1) ids.unshift((await stored(store)).id);
    const accountId = await store.defaultAccount();
    const first = await store.listMonitors({ accountId, limit: 3 });
    expect(first.items.map(({ id }) => id)).toEqual(ids.slice(0, 3));
    const rest = await store.listMonitors({ accountId, limit: 1, cursor: first.nextCursor ?? '' });
    expect(rest.items.map(({ id }) => id)).toEqual(ids.slice(3));
    expect((await store.listMonitors({ accountId: SOMEBODY_ELSE, limit: 3 })).items).toEqual([]);
  });

  holds('changes the revision that was read, and forgets pages where asked to', async (store) => {
    const monitor = await stored(store);
    const { accountId, id } = monitor;
    await store.recordCheck(check(monitor, 'job-a', { pages: [{ url: 'https://a/', state: bytes('one') }] }));
    const update = { accountId, id, revision: 1, name: 'new', settings: SETTINGS };
    const changed = await store.updateMonitor({ ...update, forgetsPages: false });
    expect(changed).toMatchObject({ name: 'new', revision: 2, checks: 1 });
    expect(await store.updateMonitor({ ...update, forgetsPages: true })).toBeNull();
    expect(await pagesOf(store, monitor)).toHaveLength(1);
    const forgotten = await store.updateMonitor({ ...update, revision: 2, forgetsPages: true });
    expect(forgotten).toMatchObject({ revision: 3, checks: 0 });
    expect(await pagesOf(store, monitor)).toEqual([]);
    expect(
      await store.updateMonitor({ ...update, accountId: SOMEBODY_ELSE, revision: 3, forgetsPages: false }),
    ).toBeNull();
  });

  holds('records a check once, with pages, changes and events', async (store, opened) => {
    const monitor = await stored(store);
    const { accountId, id } = monitor;
    const after = await store.eventHead();
    const first = check(monitor, 'job-1', {
      pages: [
        { url: 'https://a/', state: bytes('one') },
        { url: 'https://b/', state: bytes('two') },
      ],
      changes: [change('https://a/'), change('https://b/', 'ADDED')],
      events: [{ type: 'monitor.changed', accountId, jobId: null, data: { monitorId: id, text: 'ü' } }],
    });
    store.at(T0 + HOUR_MS);
    expect(await store.plain.recordCheck(first)).toBe('recorded');
    expect(await store.plain.recordCheck(first)).toBe('repeated');
    expect(await store.plain.recordCheck({ ...first, checks: 1 })).toBe('repeated');
    expect(await store.plain.getMonitor(accountId, id)).toMatchObject({
      checks: 1,
      lastCheck: { ...SUMMARY, at: T0 + HOUR_MS, jobId: 'job-1' },
      lastChangeAt: T0 + HOUR_MS,
    });
    expect((await pagesOf(store, monitor)).sort()).toEqual([
      ['https://a/', 'one'],
      ['https://b/', 'two'],
    ]);
    expect(await pagesOf(store, monitor, ['https://b/', 'https://c/'])).toEqual([['https://b/', 'two']]);
    const { items } = await changesOf(store, monitor);
    expect(items.map(({ url, kind, at, jobId }) => [url, kind, at, jobId])).toEqual([
      ['https://b/', 'ADDED', T0 + HOUR_MS, 'job-1'],
      ['https://a/', 'MODIFIED', T0 + HOUR_MS, 'job-1'],
    ]);
    const events = await eventsUntil(store, ({ length }) => length > 0, { accountId, after });
    expect(events.map(({ type, data }) => [type, data])).toEqual([
      ['monitor.changed', { monitorId: id, text: 'ü' }],
    ]);
    await afterKill(opened, async (again) => {
      expect((await again.listMonitorChanges({ accountId, monitorId: id, limit: 10 })).items).toHaveLength(2);
    });
  });

  holds('records nothing of a check of what has changed since', async (store) => {
    const monitor = await stored(store);
    const state = [{ url: 'https://a/', state: bytes('old') }];
    expect(await store.recordCheck(check(monitor, 'job-1', { pages: state }))).toBe('recorded');
    const late = check(monitor, 'job-2', {
      pages: [{ url: 'https://a/', state: null }],
      changes: [change('https://a/')],
    });
    expect(await store.recordCheck(late)).toBe('stale');
    expect(await store.recordCheck({ ...late, checks: 1, revision: 7 })).toBe('stale');
    expect(await store.recordCheck({ ...late, checks: 1, accountId: SOMEBODY_ELSE })).toBe('stale');
    expect(await pagesOf(store, monitor)).toEqual([['https://a/', 'old']]);
    expect((await changesOf(store, monitor)).items).toEqual([]);
    expect(await store.recordCheck({ ...late, checks: 1 })).toBe('recorded');
    expect(await pagesOf(store, monitor)).toEqual([]);
  });

  holds('records a check that two processes evaluate at the same time once', async (store) => {
    const monitor = await stored(store);
    const both = [1, 2].map(() => check(monitor, 'job-1', { changes: [change('https://a/')] }));
    const ends = await Promise.all(both.map((each) => store.recordCheck(each)));
    expect(ends.sort()).toEqual(['recorded', 'repeated']);
    expect((await changesOf(store, monitor)).items).toHaveLength(1);
  });

  holds('lists changes by kind, page and time', async (store) => {
    const monitor = await stored(store);
    const { accountId, id: monitorId } = monitor;
    await store.recordCheck(
      check(monitor, 'job-1', { changes: [change('https://a/'), change('https://b/', 'REMOVED')] }),
    );
    store.at(T0 + HOUR_MS);
    const again = { ...monitor, checks: 1 };
    await store.plain.recordCheck(check(again, 'job-2', { changes: [change('https://a/', 'REVERTED')] }));
    const kinds = async (query: object) =>
      (await store.plain.listMonitorChanges({ accountId, monitorId, limit: 10, ...query })).items.map(
        ({ kind }) => kind,
      );
    expect(await kinds({})).toEqual(['REVERTED', 'REMOVED', 'MODIFIED']);
    expect(await kinds({ kind: 'REMOVED' })).toEqual(['REMOVED']);
    expect(await kinds({ url: 'https://a/' })).toEqual(['REVERTED', 'MODIFIED']);
    expect(await kinds({ since: T0 + HOUR_MS })).toEqual(['REVERTED']);
    expect(await kinds({ accountId: SOMEBODY_ELSE })).toEqual([]);
    const first = await store.plain.listMonitorChanges({ accountId, monitorId, limit: 2 });
    expect(await kinds({ cursor: first.nextCursor ?? '' })).toEqual(['MODIFIED']);
    const [one] = first.items;
    expect(await store.plain.getMonitorChange(accountId, one?.id as ChangeId)).toEqual(one);
    expect(await store.plain.getMonitorChange(SOMEBODY_ELSE, one?.id as ChangeId)).toBeNull();
  });

  holds('gives pages to look at again when they are due, to one caller', async (store) => {
    const monitor = await stored(store);
    const recheck = { inMs: 1_000, round: 2, urls: ['https://a/ü'] };
    await store.recordCheck(check(monitor, 'job-1', { recheck }));
    const mine = async () =>
      (await store.plain.listDueRechecks(1_000)).filter(({ monitor: { id } }) => id === monitor.id);
    expect(await mine()).toEqual([]);
    const dueAt = T0 + 1_000;
    expect((await store.plain.getMonitor(monitor.accountId, monitor.id))?.recheckAt).toBe(dueAt);
    store.at(dueAt);
    const [due] = await mine();
    expect(due?.recheck).toEqual({ dueAt, round: 2, urls: ['https://a/ü'] });
    const taken = await Promise.all([1, 2].map(() => store.plain.takeRecheck(monitor.id, dueAt)));
    expect(taken.sort()).toEqual([false, true]);
    expect(await mine()).toEqual([]);
  });

  holds('deletes a monitor with its schedule, pages, changes and webhooks', async (store) => {
    const monitor = await stored(store);
    const { accountId, id, scheduleId } = monitor;
    const webhook = {
      id: `wh_${id}` as WebhookId,
      accountId,
      jobId: null,
      monitorId: id,
      format: 'json' as const,
      events: ['monitor.*'],
      target: 'https://receiver.example/',
      data: bytes('{}'),
    };
    await store.createWebhook(webhook);
    expect((await store.listWebhooks({ accountId, limit: 100 })).items.map((each) => each.id)).not.toContain(
      webhook.id,
    );
    expect((await store.webhooksFor([accountId], [])).map((each) => each.id)).not.toContain(webhook.id);
    expect((await store.webhooksFor([], [], [id])).map((each) => each.id)).toEqual([webhook.id]);
    await store.recordCheck(
      check(monitor, 'job-1', {
        pages: [{ url: 'https://a/', state: bytes('one') }],
        changes: [change('https://a/')],
      }),
    );
    expect(await store.deleteMonitor(SOMEBODY_ELSE, id)).toBe(false);
    expect(await store.deleteMonitor(accountId, id)).toBe(true);
    expect(await store.deleteMonitor(accountId, id)).toBe(false);
    expect(await store.getMonitor(accountId, id)).toBeNull();
    expect(await store.getSchedule(accountId, scheduleId)).toBeNull();
    expect(await store.getWebhook(accountId, webhook.id)).toBeNull();
    expect(await pagesOf(store, monitor)).toEqual([]);
    expect((await changesOf(store, monitor)).items).toEqual([]);
    expect(await store.recordCheck(check(monitor, 'job-2'))).toBe('stale');
  });
}
