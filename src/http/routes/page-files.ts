import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { requireReadable } from '../../capabilities/accounts/scopes.ts';
import { type Artifact, endingFor } from '../../capabilities/jobs/results/artifacts.ts';
import type { PageResult } from '../../capabilities/jobs/results/page-result.ts';
import type { PageContent } from '../../capabilities/snapshots/page-contents.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { expiredPart } from '../../core/model/retention.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers } from '../server/envelope.ts';
import { namesTag } from '../server/large-answers.ts';
import { inertPage } from '../views/inert-page.ts';
import type { RouteDeps } from './route-deps.ts';
import { readableSnapshot } from './snapshots.ts';

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

/** The page with whole addresses in place of paths. */
export function withOrigin<T extends PageResult>(page: T, origin: string): T {
  const { screenshot, pdf, xhr, actions, error } = page;
  const whole = <A extends Artifact | null>(artifact: A): A =>
    artifact === null ? artifact : { ...artifact, url: `${origin}${artifact.url}` };
  return {
    ...page,
    ...(screenshot === undefined ? {} : { screenshot: whole(screenshot) }),
    ...(pdf === undefined ? {} : { pdf: whole(pdf) }),
    ...(xhr == null
      ? {}
      : { xhr: xhr.map((each) => (each.body ? { ...each, body: whole(each.body) } : each)) }),
    ...(error?.details === undefined
      ? {}
      : {
          error: {
            ...error,
            details: {
              ...error.details,
              ...(error.details.screenshot === undefined
                ? {}
                : { screenshot: whole(error.details.screenshot) }),
              ...(error.details.html === undefined ? {} : { html: whole(error.details.html) }),
            },
          },
        }),
    ...(actions === undefined
      ? {}
      : {
          actions: actions.map((each) =>
            each.screenshot === undefined ? each : { ...each, screenshot: whole(each.screenshot) },
          ),
        }),
  };
}

export async function* eachWithOrigin(
  pages: AsyncIterable<PageResult>,
  origin: string,
): AsyncGenerator<PageResult> {
  for await (const page of pages) yield withOrigin(page, origin);
}
