import { extractRequestSchema, readOptionsOf } from '../../capabilities/jobs/request/extraction-request.ts';
import { pageSchema } from '../../capabilities/views/page-schemas.ts';
import type { App } from '../server/app.ts';
import { accountOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

/** Reads a page that the caller has. */
export function addExtractRoutes(app: App, { extraction }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/extract',
    config: { access: ['scrape', 'read'] },
    schema: {
      tags: ['extract'],
      summary: 'Read a page that you have',
      description:
        'Answers with the same fields as a scrape, without fetching or keeping anything. `statusCode` is null. Rules ' +
        'with a mistake are answered 422 with the place of each.',
      body: extractRequestSchema,
      response: answers({ 200: pageSchema }),
    },
    async handler(request) {
      const { html, url, contentType } = request.body;
      const body = new TextEncoder().encode(html);
      const type = `${contentType.split(';', 1)[0]}; charset=utf-8`;
      const given = { accountId: accountOf(request), url, body, contentType: type };
      const result = await extraction.read(given, readOptionsOf(request.body));
      return success({ ...result, contentType });
    },
  });
}
