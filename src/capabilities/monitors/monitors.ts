import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type {
  AccountId,
  ChangeId,
  JobId,
  MonitorId,
  RunId,
  ScheduleId,
  WebhookId,
} from '../../core/model/ids.ts';
import type { Monitor } from '../../core/model/monitor.ts';
import type { MonitorChange, MonitorChangeQuery } from '../../core/ports/monitor-store.ts';
import type { ReportedRun, Schedule } from '../../core/ports/schedule-store.ts';
import type { AccountQuery } from '../../core/ports/session-store.ts';
import type { ListPage, Store } from '../../core/ports/store.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import type { PageFields } from '../../extract/diff/json-diff.ts';
import { defined } from '../../lib/defined.ts';
import { isJobId } from '../jobs/job-id.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { invalidRequest } from '../jobs/request/invalid-request.ts';
import { type CrawlRequest, scrapeRequestSchema } from '../jobs/request/job-request.ts';
import type { ScheduleOwner, Schedules } from '../schedules/schedules.ts';
import { openScheduledJob, type SecretFields, secretPageOf } from '../sessions/job-secrets.ts';
import { requireBoundOrigins } from '../sessions/secret-fields.ts';
import type { Vault } from '../sessions/vault.ts';
import type { WatchStoredPage } from './evaluate-check.ts';
import { changeRulesOf, RECHECK_MS, scheduledJobOf, scheduleRequestOf, settingsOf } from './monitor-jobs.ts';
import type {
  MonitorChangeRequest,
  MonitorPreviewRequest,
  MonitorRequest,
  NotifyRequest,
} from './monitor-request.ts';

export interface MonitorsDeps {
  readonly store: Store;
  readonly jobs: Pick<Jobs, 'newId' | 'scrapeNow'>;
  /** The service for schedules, which may change those of monitors too. */
  readonly schedules: Schedules;
  readonly vault: Vault | null;
  readonly watchPage: WatchStoredPage;
  /** Webhooks of one monitor, one for each place that `notify` names; their ids come from `name`. Throws VALIDATION_FAILED. */
  readonly addWebhooks: (
    account: AccountId,
    monitor: MonitorId,
    notify: NotifyRequest,
    name: string,
  ) => Promise<readonly WebhookId[]>;
  /** Monitors that an account may have. */
  readonly mostMonitors: number;
  /** After which time pages are looked at again that a check was not sure of. */
  readonly recheckMs?: number;
}

/** A monitor with the schedule that it owns. */
export interface MonitorDetail {
  readonly monitor: Monitor;
  readonly schedule: Schedule;
}

/** What of a page would be watched. */
export interface MonitorPreview {
  readonly jobId: JobId;
  readonly url: string;
  readonly title: string | null;
  readonly texts: readonly { readonly name: string; readonly text: string; readonly chars: number }[];
  readonly fields: PageFields;
  readonly lines: number;
}

/** The monitors of accounts. Every method that takes an id throws NOT_FOUND for those of other accounts. */
export interface Monitors {
  /**
   * Makes the monitor with its schedule and starts its first check. Returns the one with this id when there is one
   * already. Throws VALIDATION_FAILED, what its job is refused for, and CONFLICT when the account has too many.
   */
  create(request: MonitorRequest, owner: ScheduleOwner, id?: MonitorId): Promise<MonitorDetail>;
  get(account: AccountId, id: string): Promise<MonitorDetail>;
  list(query: AccountQuery): Promise<ListPage<MonitorDetail>>;
  /**
   * Fields that are left out stay. Throws SECRETS_BOUND when `options` stay and hold secrets that would go to another origin
   * than those that were watched. When something else is watched, the next check makes a new baseline.
   */
  update(id: string, change: MonitorChangeRequest, owner: ScheduleOwner): Promise<MonitorDetail>;
  pause(account: AccountId, id: string): Promise<MonitorDetail>;
  resume(account: AccountId, id: string): Promise<MonitorDetail>;
  /** Deletes the monitor with its schedule, pages, changes and webhooks; its jobs stay. */
  delete(account: AccountId, id: string): Promise<void>;
  /** Checks now. CONFLICT when a check is under way, and what its job is refused for. */
  runNow(account: AccountId, id: string, runId?: RunId): Promise<ReportedRun>;
  changes(
    query: Omit<MonitorChangeQuery, 'monitorId'> & { readonly id: string },
  ): Promise<ListPage<MonitorChange>>;
  change(account: AccountId, id: string, changeId: string): Promise<MonitorChange>;
  /** Fetches the page now and tells what of it a monitor would compare. */
  preview(request: MonitorPreviewRequest, owner: ScheduleOwner): Promise<MonitorPreview>;
}

const MOST_TRIES = 10;
const SHOWN_CHARS = 20_000;

export function createMonitors(deps: MonitorsDeps): Monitors {
  const { store, jobs, schedules, vault, watchPage, recheckMs = RECHECK_MS } = deps;

  async function monitorOf(account: AccountId, id: string): Promise<Monitor> {
    const monitor = isJobId(id) ? await store.getMonitor(account, id as string as MonitorId) : null;
    if (monitor === null) throw noSuchMonitor(id);
    return monitor;
  }

  async function detailOf(monitor: Monitor): Promise<MonitorDetail> {
    const schedule = await store.getSchedule(monitor.accountId, monitor.scheduleId);
    if (schedule === null) throw noSuchMonitor(monitor.id);
    return { monitor, schedule };
  }

  const get = async (account: AccountId, id: string) => detailOf(await monitorOf(account, id));

  /** A first check that cannot begin now is made by the schedule. */
  async function firstCheck({ accountId, scheduleId }: Monitor): Promise<void> {
    try {
      await schedules.runNow(accountId, scheduleId);
    } catch (error) {
      if (!isScrapifieError(error)) throw error;
    }
  }

  return {
    get,

    async create(request, owner, id = jobs.newId() as string as MonitorId) {
      const { accountId } = owner;
      const known = await store.getMonitor(accountId, id);
      if (known !== null) return detailOf(known);
      const scheduleId = jobs.newId() as string as ScheduleId;
      const schedule = await schedules.draft(scheduleRequestOf(request), owner, scheduleId, id);
      const { notify } = request;
      const webhookIds = notify === undefined ? [] : await deps.addWebhooks(accountId, id, notify, id);
      const settings = settingsOf(request, webhookIds, recheckMs);
      const { name } = request;
      const monitor = await store.createMonitor(
        { id, accountId, scheduleId, name, settings, createdAt: schedule.createdAt },
        schedule,
        deps.mostMonitors,
      );
      if (monitor === null) {
        for (const webhook of webhookIds) await store.deleteWebhook(accountId, webhook);
        throw new ScrapifieError(
          'CONFLICT',
          `The account has ${deps.mostMonitors} monitors, which is as many as it may have. Delete one first.`,
        );
      }
      if (monitor.checks === 0) await firstCheck(monitor);
      return detailOf(monitor);
    },

    async list(query) {
      const { items, nextCursor } = await store.listMonitors(query);
      const details = await Promise.all(items.map((monitor) => detailOf(monitor).catch(() => null)));
      return { items: details.filter((detail) => detail !== null), nextCursor };
    },

    async update(id, change, owner) {
      const { accountId } = owner;
      const { monitor, schedule } = await get(accountId, id);
      requireSameTarget(monitor, change);
      const { name, notify, schedule: times } = change;
      const job = changedJob(change, schedule, vault);
      if (job !== null || times !== undefined || name !== undefined) {
        await schedules.update(
          schedule.id,
          { ...times, ...defined({ name }), ...(job === null ? {} : { job }) },
          owner,
        );
      }
      const webhookIds =
        notify == null ? null : await deps.addWebhooks(accountId, monitor.id, notify, jobs.newId());
      for (let tries = 0; tries < MOST_TRIES; tries += 1) {
        const current = await monitorOf(accountId, id);
        const { settings } = current;
        const diff = changedRules(settings.diff as DiffRules, change);
        const changed = await store.updateMonitor({
          accountId,
          id: current.id,
          revision: current.revision,
          name: name ?? current.name,
          settings: {
            ...settings,
            rules: changeRulesOf(change, settings.rules),
            diff,
            maxPages: change.maxPages ?? settings.maxPages,
            recheckMs:
              change.recheck === undefined
                ? settings.recheckMs
                : change.recheck
                  ? (settings.recheckMs ?? recheckMs)
                  : null,
            webhookIds: notify === undefined ? settings.webhookIds : (webhookIds ?? []),
          },
          forgetsPages:
            isOther(settings.diff as DiffRules, diff) ||
            change.site !== undefined ||
            change.sitemap !== undefined,
        });
        if (changed === null) continue;
        if (notify !== undefined) {
          for (const webhook of settings.webhookIds) await store.deleteWebhook(accountId, webhook);
        }
        return detailOf(changed);
      }
      throw new ScrapifieError('CONFLICT', 'Other requests keep changing the monitor. Try again.');
    },

    async pause(account, id) {
      const { scheduleId } = await monitorOf(account, id);
      await schedules.pause(account, scheduleId);
      return get(account, id);
    },
    async resume(account, id) {
      const { scheduleId } = await monitorOf(account, id);
      await schedules.resume(account, scheduleId);
      return get(account, id);
    },
    async delete(account, id) {
      const monitor = await monitorOf(account, id);
      if (!(await store.deleteMonitor(account, monitor.id))) throw noSuchMonitor(id);
    },
    async runNow(account, id, runId) {
      const { scheduleId } = await monitorOf(account, id);
      return schedules.runNow(account, scheduleId, runId);
    },
    async changes({ id, ...query }) {
      const { id: monitorId } = await monitorOf(query.accountId, id);
      return store.listMonitorChanges({ ...query, monitorId });
    },
    async change(account, id, changeId) {
      const monitor = await monitorOf(account, id);
      const change = await store.getMonitorChange(account, changeId as ChangeId);
      if (change === null || change.monitorId !== monitor.id) {
        throw new ScrapifieError('NOT_FOUND', `There is no change ${changeId.slice(0, 100)}.`);
      }
      return change;
    },

    async preview({ url, watch, ignore, options }, { accountId, credentials }) {
      const formats = [...new Set([...options.formats, 'metadata' as const])];
      const request = scrapeRequestSchema.parse({ ...options, formats, url });
      // What reads pages is loaded by the first preview: lists and changes of monitors do without.
      const [{ readPage }, { linesOf }] = await Promise.all([
        import('../compare/page-version.ts'),
        import('./watched-lines.ts'),
      ]);
      const { id: jobId } = await jobs.scrapeNow(request, accountId, { credentials });
      const [page] = (await store.listPages({ jobId, limit: 1 })).items;
      const watched =
        page === undefined
          ? null
          : await watchPage(readPage(page), { watch, ignore, threshold: { share: 0, amount: 0 } });
      if (page === undefined || watched === null) {
        throw new ScrapifieError('NOT_FOUND', 'The page has no body that could be watched.');
      }
      return {
        jobId,
        url: page.url,
        title: page.title,
        texts: watched.texts.map(({ name, text }) => ({
          name,
          text: text.slice(0, SHOWN_CHARS),
          chars: text.length,
        })),
        fields: watched.fields,
        lines: linesOf(watched).length,
      };
    },
  };
}

/** A job of a monitor as its schedule stores it: a batch, or a crawl with the fields that a batch lacks. */
type FormerJob = Pick<
  CrawlRequest,
  'urls' | 'sitemapUrls' | 'options' | 'maxPages' | 'maxDepth' | 'include' | 'exclude'
>;

/** The job with what the change says about it; null when it says nothing. */
function changedJob(change: MonitorChangeRequest, schedule: Schedule, vault: Vault | null) {
  const { urls, site, sitemap, options, maxPages, maxDepth, include, exclude } = change;
  const given = { urls, site, sitemap, options, maxPages, maxDepth, include, exclude };
  if (Object.values(given).every((value) => value === undefined)) return null;
  const { kind, request } = openScheduledJob(schedule.job, vault, schedule);
  const former = request as FormerJob;
  const target =
    kind === 'batch'
      ? { urls: former.urls }
      : former.sitemapUrls[0] === undefined
        ? { site: former.urls[0] }
        : { sitemap: former.sitemapUrls[0] };
  const after = urls ?? [site ?? sitemap ?? ''];
  if (options === undefined && [urls, site, sitemap].some((each) => each !== undefined)) {
    const page = secretPageOf(former.options as SecretFields);
    const before = [...former.urls, ...(former.sitemapUrls ?? [])];
    requireBoundOrigins(page, { before, after, named: 'options' });
  }
  return scheduledJobOf({
    ...target,
    ...defined({ urls, site, sitemap }),
    options: options ?? former.options,
    maxPages: maxPages ?? former.maxPages ?? 1,
    maxDepth: maxDepth === undefined ? former.maxDepth : maxDepth,
    include: include ?? former.include,
    exclude: exclude ?? former.exclude,
  });
}

/** A monitor of pages stays one of pages: what it remembers would mean nothing otherwise. */
function requireSameTarget({ settings }: Monitor, change: MonitorChangeRequest): void {
  const given = (['urls', 'site', 'sitemap'] as const).filter((name) => change[name] !== undefined);
  const other = given.find((name) => name !== settings.target);
  if (other === undefined) return;
  const message = `The monitor watches \`${settings.target}\`; make another one for \`${other}\`.`;
  throw invalidRequest([{ field: other, message }]);
}

const changedRules = (
  former: DiffRules,
  { watch, ignore, threshold }: Pick<MonitorChangeRequest, 'watch' | 'ignore' | 'threshold'>,
): DiffRules => ({
  watch: watch ?? former.watch,
  ignore: ignore ?? former.ignore,
  threshold: threshold ?? former.threshold,
});

/** Other things are compared: what is remembered cannot be. */
const isOther = (one: DiffRules, other: DiffRules): boolean =>
  JSON.stringify([one.watch, one.ignore]) !== JSON.stringify([other.watch, other.ignore]);

const noSuchMonitor = (id: string) =>
  new ScrapifieError('NOT_FOUND', `There is no monitor ${id.slice(0, 100)}.`);
