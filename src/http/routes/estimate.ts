import { z } from 'zod';
import { type Estimate, type EstimatedHost, estimateJob } from '../../capabilities/jobs/accept/job-cost.ts';
import type { JobDraft } from '../../capabilities/jobs/accept/job-draft.ts';
import { draftOf } from '../../capabilities/jobs/accept/job-draft.ts';
import { lastCrawl } from '../../capabilities/jobs/results/job-list.ts';
import { scheduledJobSchema } from '../../capabilities/schedules/schedule-request.ts';
import { readPrices } from '../../core/config/plans-and-prices.ts';
import { creditsOf, priceTable } from '../../core/model/credits.ts';
import type { AccountId, HostKey } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { traitsOfKind } from '../../core/model/job-kinds.ts';
import { crawlDelayMs, parseRobots } from '../../crawl/robots/robots-rules.ts';
import { PRODUCT_TOKEN } from '../../fetch/user-agent.ts';
import { describeCount } from '../../lib/human-units.ts';
import type { App } from '../server/app.ts';
import { accountOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const amount = z.number().min(0);
const bounds = (what: string) =>
  z.object({ low: amount, high: amount.nullable().describe('Null: nothing bounds it.') }).describe(what);

const estimateSchema = z
  .object({
    pages: bounds('Pages that will be fetched.'),
    durationMs: bounds('Time at the pace of the hosts.'),
    credits: bounds('From one attempt by the cheapest engine to the dearest attempt that the policy allows.'),
    hosts: z
      .array(
        z.object({
          host: z.string(),
          pauseMs: amount.describe('Between two requests; 0: no pace is set.'),
          concurrency: z.number().int(),
          reason: z.string(),
        }),
      )
      .describe('The pace of the first 20 hosts.'),
    reasons: z.array(z.string()).describe('How the figures came about, as sentences.'),
  })
  .meta({ id: 'Estimate' });

/** Hosts whose pace is looked up: a batch may have thousands. */
const MOST_HOSTS = 20;

/** What a job would take and cost. Nothing is fetched and nothing is stored. */
export function addEstimateRoutes(app: App, deps: RouteDeps): void {
  const { jobs, store, settings, policies, now } = deps;
  const prices = priceTable(readPrices(settings.prices) ?? readPrices('') ?? never());

  async function hostsOf({ tasks }: JobDraft): Promise<EstimatedHost[]> {
    const counts = new Map<HostKey, { urls: number; origin: string }>();
    for (const { hostKey, url, kind } of tasks) {
      const known = counts.get(hostKey) ?? { urls: 0, origin: new URL(url).origin };
      counts.set(hostKey, { ...known, urls: known.urls + (kind === 'page' ? 1 : 0) });
    }
    const most = [...counts].sort(([, a], [, b]) => b.urls - a.urls).slice(0, MOST_HOSTS);
    return Promise.all(
      most.map(async ([host, { urls, origin }]) => {
        const [view, robots] = await Promise.all([store.getHost(host), store.getRobots(origin)]);
        const policy = policies.policyFor(host);
        const isObeyed = robots?.status === 'ok' && policy.robots === 'obey';
        const delayMs = isObeyed ? crawlDelayMs(parseRobots(robots.body), PRODUCT_TOKEN) : null;
        return { host, policy, state: view?.state ?? null, crawlDelayMs: delayMs, urls };
      }),
    );
  }

  /** How many pages a crawl will have, and how that is known. */
  async function pagesOf(
    draft: JobDraft,
    account: AccountId,
    given: { pages: number | null; map: Job | null },
  ) {
    const { maxPages } = draft.options.budgets;
    const most = (count: number) => (maxPages === null ? count : Math.min(count, maxPages));
    if (traitsOfKind(draft.kind).follows === 'nothing') {
      const count = draft.tasks.length;
      return { low: count, high: count, reason: `The request names ${describeCount(count, 'URL')}.` };
    }
    if (given.pages !== null) {
      const count = most(given.pages);
      return {
        low: count,
        high: count,
        reason: `The request says that there are ${describeCount(given.pages, 'page')}.`,
      };
    }
    if (given.map !== null) {
      const listed = given.map.counters.known;
      return {
        low: most(listed),
        high: maxPages,
        reason: `The map found ${describeCount(listed, 'URL')}; a crawl may find more by following links.`,
      };
    }
    const last = await lastCrawl(store, account, draft.seeds);
    const before = last === null ? null : await store.getJob(last);
    if (before !== null) {
      const count = most(before.counters.pages);
      return {
        low: count,
        high: maxPages,
        reason: `The last crawl of these start URLs fetched ${describeCount(before.counters.pages, 'page')}.`,
      };
    }
    return {
      low: most(draft.tasks.filter(({ kind }) => kind === 'page').length),
      high: maxPages,
      reason: 'How many pages the site has is not known: run a map first, or rely on `maxPages`.',
    };
  }

  app.route({
    method: 'POST',
    url: '/v1/estimate',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['scrape'],
      summary: 'What a scrape, batch or crawl will take and cost, before it is started',
      description:
        'Nothing is fetched. A request that would be refused for what it says is refused here as well.',
      body: z
        .strictObject({
          job: scheduledJobSchema,
          pages: z
            .number()
            .int()
            .min(0)
            .max(1_000_000_000)
            .nullable()
            .default(null)
            .describe('Pages of a crawl, where that is known.'),
          mapId: z.string().max(64).nullable().default(null).describe('A map of the same site.'),
        })
        .meta({ examples: [{ job: { kind: 'crawl', urls: ['https://example.com/'], maxPages: 500 } }] }),
      response: answers({ 200: estimateSchema }),
    },
    async handler(request) {
      const { job, pages: given, mapId } = request.body;
      const account = accountOf(request);
      const { kind, ...body } = job;
      const draft = draftOf({ kind, request: body } as Parameters<typeof draftOf>[0], (host, what) =>
        policies.policyFor(host).consent.includes(what),
      );
      const map = mapId === null ? null : await jobs.get(mapId, account);
      const pages = await pagesOf(draft, account, { pages: given, map });
      const hosts = await hostsOf(draft);
      const estimate = estimateJob({
        options: draft.options,
        hosts,
        pages,
        prices,
        mostPerAttempt: jobs.mostPerAttempt(
          draft.options,
          hosts.map(({ host }) => host),
        ),
        now: now(),
      });
      return success(estimateView(estimate, pages.reason, draft));
    },
  });
}

function estimateView({ pages, durationMs, microcredits, hosts }: Estimate, reason: string, draft: JobDraft) {
  const { maxPages, maxDurationMs, maxMicrocredits = null } = draft.options.budgets;
  return {
    pages: { low: pages.low, high: pages.high },
    durationMs,
    credits: {
      low: creditsOf(microcredits.low),
      high: microcredits.high === null ? null : creditsOf(microcredits.high),
    },
    hosts,
    reasons: [
      reason,
      ...(maxPages === null ? [] : [`The job stops at ${describeCount(maxPages, 'page')} (\`maxPages\`).`]),
      ...(maxDurationMs === null ? [] : ['The job stops when its time is over (`maxDurationMs`).']),
      ...(maxMicrocredits === null
        ? []
        : [`The job stops at ${creditsOf(maxMicrocredits)} credits (\`maxCredits\`).`]),
      'The low figure has one attempt for each page, by the cheapest engine; blocks, retries and browsers cost more.',
    ],
  };
}

function never(): never {
  throw new Error('The default prices cannot be read.');
}
