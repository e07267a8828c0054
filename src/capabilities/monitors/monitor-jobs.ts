import type { ChangeRules, MonitorSettings, MonitorTarget } from '../../core/model/monitor.ts';
import type { DiffRules } from '../../extract/diff/diff-rules.ts';
import { ageMsOf } from '../jobs/retention-fields.ts';
import { type ScheduleRequest, scheduleRequestSchema } from '../schedules/schedule-request.ts';
import type { MonitorRequest } from './monitor-request.ts';

/** What the checks of a monitor fetch. */

export const targetOf = ({ urls, site }: Pick<MonitorRequest, 'urls' | 'site'>): MonitorTarget =>
  urls !== undefined ? 'urls' : site !== undefined ? 'site' : 'sitemap';

/** What decides which pages are fetched and how. */
export type JobFields = Pick<
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
