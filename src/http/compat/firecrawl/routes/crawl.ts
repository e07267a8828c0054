import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import { crawlRequestSchema } from '../../../../capabilities/jobs/request/job-request.ts';
import type { Job } from '../../../../core/model/job.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf } from '../../../server/caller.ts';
import { bodyOf, type FirecrawlDeps, givenBy, readFirst } from '../firecrawl-deps.ts';
import { crawlBody, crawlRequestOf } from '../request/crawl-options.ts';
import { derivedRequestOf, viewOf } from '../request/scrape-options.ts';
import { crawlBodyOfV1 } from '../request/v1.ts';
import { jobWebhookOf } from '../webhook-message.ts';
import { addJobRoutes, addressOf } from './job-routes.ts';

const MOST_ACTIVE = 200;

export function addCrawlRoutes(app: App, deps: FirecrawlDeps): void {
  const { jobs, idempotency, isV1, settings } = deps;

  const wish = readFirst((request) => {
    const body = bodyOf(crawlBody, isV1 ? crawlBodyOfV1(request.body) : request.body);
    const { scrapeOptions } = body;
    const asked = parseRequest(crawlRequestSchema, {
      ...crawlRequestOf(body),
      ...derivedRequestOf(scrapeOptions, body.zeroDataRetention),
    });
    const given = {
      ...givenBy(request),
      shownAs: viewOf(scrapeOptions, body),
      ...jobWebhookOf(body.webhook, 'crawl', apiKeyOf(request).accountId, settings),
    };
    return { asked, given };
  });

  app.route({
    method: 'POST',
    url: '/crawl',
    config: { access: 'jobs:write', creates: true },
    schema: { hide: true },
    preValidation: wish.preValidation,
    async handler(request) {
      const { asked, given } = wish.of(request);
      const { accountId } = apiKeyOf(request);
      const job = await idempotency.once(request, (id) => jobs.crawl(asked, accountId, { ...given, id }));
      return { success: true, id: job.id, url: `${addressOf(request)}/${job.id}` };
    },
  });

  for (const url of ['/crawl/active', '/crawl/ongoing']) {
    app.route({
      method: 'GET',
      url,
      config: { access: 'jobs:read' },
      schema: { hide: true },
      async handler(request) {
        const { accountId } = apiKeyOf(request);
        const found = await Promise.all(
          (['queued', 'running'] as const).map((status) =>
            jobs.list({ accountId, status, limit: MOST_ACTIVE }),
          ),
        );
        const crawls = found.flatMap(({ items }) => items).filter(({ kind }) => kind === 'crawl');
        return { success: true, crawls: crawls.map(activeView) };
      },
    });
  }

  addJobRoutes(app, '/crawl', deps);
}

function activeView({ id, accountId, seeds, createdAt, options }: Job) {
  const { scope, budgets, shownAs } = options;
  return {
    id,
    teamId: accountId,
    team_id: accountId,
    url: seeds[0] ?? '',
    created_at: new Date(createdAt).toISOString(),
    options: {
      limit: budgets.maxPages,
      maxDiscoveryDepth: scope.maxDepth,
      sitemap: scope.sitemap,
      allowExternalLinks: scope.allowExternal,
      allowSubdomains: scope.allowSubdomains,
      scrapeOptions: { formats: shownAs?.formats ?? options.page.formats },
    },
  };
}
