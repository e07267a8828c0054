import type { ChangeRules, MonitorSettings, MonitorTarget } from '../../core/model/monitor.ts';
import type { Logger } from '../../core/observe/logger.ts';
import type { DueRecheck } from '../../core/ports/monitor-store.ts';
import type { Schedule } from '../../core/ports/schedule-store.ts';
import type { Store } from '../../core/ports/store.ts';
import { parseStoredSeed } from '../../crawl/frontier/canonical.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import { defined } from '../../lib/defined.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { batchRequestSchema } from '../jobs/request/job-request.ts';
import { ageMsOf } from '../jobs/request/retention-fields.ts';
import { type ScheduleRequest, scheduleRequestSchema } from '../schedules/schedule-request.ts';
import { isKeyRevoked } from '../schedules/schedule-runs.ts';
import { openScheduledJob } from '../sessions/job-secrets.ts';
import type { Vault } from '../sessions/vault.ts';
import type { MonitorRequest } from './monitor-request.ts';

/** What the checks of a monitor fetch. */

const targetOf = ({ urls, site }: Pick<MonitorRequest, 'urls' | 'site'>): MonitorTarget =>
  urls !== undefined ? 'urls' : site !== undefined ? 'site' : 'sitemap';

/** What decides which pages are fetched and how. */
type JobFields = Pick<
  MonitorRequest,
  'urls' | 'site' | 'sitemap' | 'options' | 'maxPages' | 'maxDepth' | 'include' | 'exclude'
>;

/** The job of each check, as a schedule takes it. Throws VALIDATION_FAILED of zod where the request is none. */
export function scheduledJobOf(request: JobFields): ScheduleRequest['job'] {
  const { urls, site, sitemap, options, maxPages, maxDepth, include, exclude } = request;
  const page = { ...options, formats: [...new Set([...options.formats, 'metadata' as const])] };
  const common = { options: page, snapshots: true };
  const job =
    urls !== undefined
      ? { kind: 'batch', urls, ...common }
      : {
          kind: 'crawl',
          ...(site === undefined ? { sitemapUrls: [sitemap], sitemap: 'only' } : { urls: [site] }),
          maxPages,
          maxDepth,
          include,
          exclude,
          ...common,
        };
  return scheduleRequestSchema.parse({ name: 'monitor', every: '1d', job }).job;
}

export const scheduleRequestOf = (request: MonitorRequest): ScheduleRequest => ({
  name: request.name,
  overlap: 'skip',
  ...request.schedule,
  job: scheduledJobOf(request),
});

type RuleFields = {
  readonly [Name in 'confirm' | 'settle' | 'failAfter' | 'learnNoise']?: MonitorRequest[Name] | undefined;
};

export const changeRulesOf = (
  { confirm, settle, failAfter, learnNoise }: RuleFields,
  former?: ChangeRules,
): ChangeRules => ({
  confirm: confirm ?? former?.confirm ?? 1,
  settleMs: settle === undefined ? (former?.settleMs ?? 0) : ageMsOf(settle),
  failAfter: failAfter ?? former?.failAfter ?? 1,
  learnNoise: learnNoise ?? former?.learnNoise ?? false,
});

/** After which time pages are looked at again that a check was not sure of. */
export const RECHECK_MS = 30_000;

export const settingsOf = (
  request: MonitorRequest,
  webhookIds: MonitorSettings['webhookIds'],
  recheckMs = RECHECK_MS,
): MonitorSettings => {
  const { watch, ignore, threshold, maxPages, recheck } = request;
  return {
    target: targetOf(request),
    rules: changeRulesOf(request),
    diff: { watch, ignore, threshold } satisfies DiffRules,
    maxPages,
    recheckMs: recheck ? recheckMs : null,
    webhookIds,
  };
};

interface RecheckDeps {
  readonly store: Pick<Store, 'listDueRechecks' | 'takeRecheck' | 'getSchedule' | 'getAccount' | 'listKeys'>;
  readonly jobs: Pick<Jobs, 'batch' | 'requireRoom'>;
  readonly vault: Vault | null;
  readonly logger: Pick<Logger, 'warn'>;
}

const BATCH = 50;

/** What a check fetches, as its schedule stores it. */
interface WatchedJob {
  readonly options: unknown;
  readonly retention: unknown;
  readonly urls?: readonly string[];
  readonly sitemapUrls?: readonly string[];
}

/**
 * Starts the jobs that look again at pages that a check was not sure of. A second look is a help: one that is lost or
 * refused is made up for by the next check.
 */
export async function runRechecks(deps: RecheckDeps): Promise<void> {
  for (const due of await deps.store.listDueRechecks(BATCH)) {
    // A second look that was taken is not due any more: second looks that cannot begin for want of room wait.
    deps.jobs.requireRoom();
    const { monitor, recheck } = due;
    if (!(await deps.store.takeRecheck(monitor.id, recheck.dueAt))) continue;
    try {
      await startRecheck(due, deps);
    } catch (error) {
      const details = { monitorId: monitor.id, err: error };
      deps.logger.warn(details, 'monitor: pages could not be looked at again');
    }
  }
}

async function startRecheck({ monitor, recheck }: DueRecheck, deps: RecheckDeps): Promise<void> {
  const { store, jobs, vault } = deps;
  const { accountId, id } = monitor;
  const schedule = await store.getSchedule(accountId, monitor.scheduleId);
  if (schedule === null || schedule.isPaused || (await isKeyRevoked(store, schedule))) return;
  const account = await store.getAccount(accountId);
  if (account === null || account.disabledAt !== null) return;
  const { credentials, keyId } = schedule.job;
  const { request, secretOrigins } = recheckRequest(schedule, vault, recheck.urls);
  await jobs.batch(request, accountId, {
    credentials,
    secretOrigins,
    monitor: { id, round: recheck.round },
    startedBy: {
      actor: `monitor ${id}`,
      address: 'scheduler',
      ...defined({ keyId }),
    },
  });
}

/**
 * The pages are fetched as the check fetches them: those of a site or sitemap are URLs that the site has named, so that
 * headers and cookies go to the origins of the monitor alone.
 */
export function recheckRequest(schedule: Schedule, vault: Vault | null, urls: readonly string[]) {
  const { request } = openScheduledJob(schedule.job, vault, schedule);
  const { options, retention, urls: named = [], sitemapUrls = [] } = request as WatchedJob;
  const origins = [...named, ...sitemapUrls].flatMap((url) => parseStoredSeed(url)?.origin ?? []);
  return {
    request: batchRequestSchema.parse({ urls, options, retention, snapshots: true }),
    secretOrigins: [...new Set(origins)],
  };
}
