import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { requireReadable } from '../../capabilities/accounts/scopes.ts';
import type { PageContent } from '../../capabilities/snapshots/page-contents.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { expiredPart } from '../../core/model/retention.ts';
import { readableSnapshot } from '../access/readable-snapshot.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers } from '../server/envelope.ts';
import { inertPage } from '../views/inert-page.ts';
import type { RouteDeps } from './route-deps.ts';

const pageParams = z.strictObject({
  id: z.string().max(64).describe('The job.'),
  page: z.string().max(20).describe('The page, as in the addresses of its artifacts.'),
});
const snapshotParams = z.strictObject({ id: z.string().max(64).describe('The snapshot.') });

/**
 * The page has an origin of its own, no scripts, no forms, and fetches nothing; only styles and pictures that stand in it
 * are shown. The dashboard of this server may show it in a frame.
 */
const POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'";

const DESCRIPTION =
  'The stored HTML, as the browser had it where the page was rendered, written anew without scripts, forms, frames and ' +
  'addresses that a browser would ask for, and under a policy that refuses all of them: safe to be shown in a frame. Pages ' +
  'of more than a million characters are cut.';

const response = {
  ...answers({}),
  200: {
    description: 'The page.',
    content: { 'text/html': { schema: z.unknown().meta({ type: 'string' }) } },
  },
};

const HTML_TYPE = /^(?:text\/html|application\/xhtml\+xml)\b/i;

/** Stored pages to look at: what sites sent, made harmless. */
export function addPreviewRoutes(app: App, { jobs, store, contents }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/pages/:page/preview',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs'],
      summary: 'A page to look at, made harmless',
      description: DESCRIPTION,
      params: pageParams,
      response,
    },
    async handler(request, reply) {
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      const page = await jobs.read.page(job, request.params.page);
      if (page.expired?.includes('bodies') === true) throw expiredPart('The body of the page', 'bodies');
      return send(reply, contents.ofPage(page));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/snapshots/:id/preview',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['snapshots'],
      summary: 'A snapshot to look at, made harmless',
      description: DESCRIPTION,
      params: snapshotParams,
      response,
    },
    async handler(request, reply) {
      const snapshot = await readableSnapshot(store, request, request.params.id);
      return send(reply, contents.ofSnapshot(snapshot));
    },
  });
}

async function send(reply: FastifyReply, content: PageContent): Promise<FastifyReply> {
  const { contentType } = content;
  const html = contentType === null || HTML_TYPE.test(contentType) ? await content.html() : null;
  if (html === null) {
    throw new ScrapifieError(
      'NOT_FOUND',
      'No HTML of the page is kept: it had none, or the body was deleted.',
    );
  }
  return (
    reply
      .type('text/html; charset=utf-8')
      // The page has no origin that could have an agent of its own; browsers would warn.
      .removeHeader('origin-agent-cluster')
      .header('content-security-policy', POLICY)
      .header('x-content-type-options', 'nosniff')
      .header('x-frame-options', 'SAMEORIGIN')
      .header('cross-origin-resource-policy', 'same-origin')
      .header('cache-control', 'private, no-store')
      .send(inertPage(html))
  );
}
