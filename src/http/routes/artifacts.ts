import { z } from 'zod';
import { requireReadable } from '../../capabilities/accounts/scopes.ts';
import { endingFor } from '../../capabilities/jobs/results/page-result.ts';
import type { App } from '../server/app.ts';
import { namesTag } from '../server/byte-ranges.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const params = z.strictObject({
  id: z.string().max(64).describe('The job.'),
  page: z.string().max(20).describe('The page, as in the address that its result has.'),
  name: z.string().max(40).describe('`screenshot`, `pdf`, `action-0` …, `xhr-0` …'),
});

/** What may stand in a header: types that pages made up are not repeated. */
const MEDIA_TYPE = /^[\w.+-]{1,100}\/[\w.+-]{1,100}(?:; ?charset=[\w-]{1,40})?$/i;
const UNKNOWN_TYPE = 'application/octet-stream';

/**
 * Pictures and documents may be looked at. What a site's server sent to its scripts, or a page that failed, is only ever
 * saved, and has no type by which a page could load it as its script: a policy of `'self'` would allow that.
 */
const isOurs = (name: string): boolean => !name.startsWith('xhr-') && name !== 'failure-html';

/** Pictures, PDFs and recorded answers of a page, as they are. */
export function addArtifactRoutes(app: App, { jobs }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/pages/:page/artifacts/:name',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'A picture, a PDF or a recorded answer of a page',
      description:
        'The bytes themselves, with their type. `ETag` is their hash: with `If-None-Match` the answer is 304 while ' +
        'they are the same.',
      params,
      response: {
        ...answers({}),
        200: {
          description: 'The bytes.',
          content: { '*/*': { schema: z.unknown().meta({ type: 'string', format: 'binary' }) } },
        },
        304: z.unknown().meta({ type: 'null', description: 'Unchanged.' }),
      },
    },
    async handler(request, reply) {
      const { id, page, name } = request.params;
      const job = await jobs.get(id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      const artifact = await jobs.read.artifact(job, page, name);
      const etag = `"${artifact.contentHash}"`;
      // A retry may store other bytes under this URL, so caches must revalidate.
      reply.header('etag', etag).header('cache-control', 'private, no-cache');
      if (namesTag(request.headers['if-none-match'], etag)) return reply.code(304).send('');
      const bytes = await jobs.read.artifactBytes(artifact);
      const stored = MEDIA_TYPE.test(artifact.contentType) ? artifact.contentType : UNKNOWN_TYPE;
      const [type, how] = isOurs(name) ? [stored, 'inline'] : [UNKNOWN_TYPE, 'attachment'];
      return reply
        .type(type)
        .header('content-disposition', `${how}; filename="${name}.${endingFor(stored)}"`)
        .header('x-content-type-options', 'nosniff')
        .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    },
  });
}
