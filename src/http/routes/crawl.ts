import { credentialAccessOf } from '../../capabilities/accounts/api-key.ts';
import { crawlRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import { acceptedSchema, acceptedView } from '../../capabilities/views/job-view.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf, starterOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

export function addCrawlRoutes(app: App, { jobs, idempotency }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/crawl',
    config: { access: 'jobs:write', creates: true },
    schema: {
      tags: ['scrape'],
      summary: 'Crawl sites from seed URLs or sitemaps',
      body: crawlRequestSchema,
      response: answers({ 202: acceptedSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const { accountId: account } = key;
      const credentials = credentialAccessOf(key);
      const job = await idempotency.once(request, (id) =>
        jobs.crawl(request.body, account, { credentials, id, startedBy: starterOf(request) }),
      );
      reply.code(202).header('location', `/v1/jobs/${job.id}`);
      return success(acceptedView(job));
    },
  });
}
