import { credentialAccessOf } from '../../capabilities/accounts/api-key.ts';
import { invalidUrlsOf } from '../../capabilities/jobs/accept/job-draft.ts';
import { batchRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import { acceptedBatchSchema, acceptedView } from '../../capabilities/views/job-view.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf, starterOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

export function addBatchRoutes(app: App, { jobs, idempotency }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/batch',
    config: { access: 'jobs:write', creates: true },
    schema: {
      tags: ['scrape'],
      summary: 'Fetch up to 10,000 pages in one job',
      description:
        'All URLs are stored before the answer. One invalid URL refuses the request and is named, unless ' +
        '`ignoreInvalidUrls` is true.',
      body: batchRequestSchema,
      response: answers({ 202: acceptedBatchSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const { accountId: account } = key;
      const credentials = credentialAccessOf(key);
      const job = await idempotency.once(request, (id) =>
        jobs.batch(request.body, account, { credentials, id, startedBy: starterOf(request) }),
      );
      reply.code(202).header('location', `/v1/jobs/${job.id}`);
      const invalidUrls = invalidUrlsOf(request.body);
      return success({
        ...acceptedView(job),
        ...(request.body.ignoreInvalidUrls ? { invalidUrls } : {}),
      });
    },
  });
}
