import { credentialAccessOf } from '../../capabilities/accounts/api-key.ts';
import { mapRequestSchema } from '../../capabilities/jobs/request/job-request.ts';
import { acceptedSchema, acceptedView, jobLinks } from '../../capabilities/views/job-view.ts';
import { mapSchema } from '../../capabilities/views/page-schemas.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf, starterOf } from '../server/caller.ts';
import { clientGone } from '../server/client-gone.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

export function addMapRoutes(app: App, { jobs, idempotency }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/map',
    config: { access: 'scrape', creates: true },
    schema: {
      tags: ['scrape'],
      summary: 'List the URLs of a site',
      description: 'Reads the sitemaps and the links of the start page; nothing else is fetched.',
      body: mapRequestSchema,
      response: answers({ 200: mapSchema, 202: acceptedSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const { accountId: account } = key;
      const credentials = credentialAccessOf(key);
      const { body } = request;
      if (!body.async && request.held === null) {
        const mapped = await jobs.mapNow(body, account, {
          credentials,
          signal: clientGone(reply),
          startedBy: starterOf(request),
        });
        return success({ ...mapped, links: jobLinks(mapped.id) });
      }
      const job = await idempotency.once(request, (id) =>
        jobs.map(body, account, { credentials, id, startedBy: starterOf(request) }),
      );
      if (body.async) {
        reply.code(202).header('location', `/v1/jobs/${job.id}`);
        return success(acceptedView(job));
      }
      await jobs.waitFor(job.id, body.timeoutMs, clientGone(reply));
      const mapped = await jobs.read.mapped(job.id, body);
      return success({ ...mapped, links: jobLinks(mapped.id) });
    },
  });
}
