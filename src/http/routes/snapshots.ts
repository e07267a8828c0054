import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { historyUrlOf, isSnapshotId } from '../../capabilities/snapshots/snapshot-key.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import {
  sightingSchema,
  sightingView,
  snapshotSchema,
  snapshotView,
} from '../../capabilities/views/snapshot-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { JobId } from '../../core/model/ids.ts';
import type { Snapshot, SnapshotStore } from '../../core/ports/snapshot-store.ts';
import type { App } from '../server/app.ts';
import { accountOf, mayReadPrivate } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const CONTENT_FORMATS = ['text', 'markdown', 'html', 'rawHtml'] as const;

const url = z.string().min(1).max(8_192);
const params = z.strictObject({ id: z.string().max(64).describe('The snapshot.') });

const content = z.string().nullable().optional();
const contentSchema = snapshotSchema
  .extend({ text: content, markdown: content, html: content, rawHtml: content })
  .meta({ id: 'SnapshotContent' });

/** `a,b` and `formats=a&formats=b` alike. */
const formatsField = z
  .preprocess(
    (given) => (given === undefined ? [] : [given].flat().flatMap((each) => String(each).split(','))),
    z.array(z.enum(CONTENT_FORMATS)).max(10),
  )
  .describe(`Contents in the answer, separated by commas: ${CONTENT_FORMATS.join(', ')}.`)
  .meta({ examples: ['markdown'] });

/** What pages looked like over time, for each URL of the account over all jobs that asked for `snapshots`. */
export function addSnapshotRoutes(app: App, { store, contents }: SharedRouteDeps): void {
  function urlKeyOf(raw: string) {
    const found = historyUrlOf(raw);
    if (found !== null) return found.urlKey;
    throw invalidRequest([{ field: 'url', message: 'Must be an absolute http or https URL.' }]);
  }

  const find = (request: FastifyRequest, id: string) => readableSnapshot(store, request, id);

  app.route({
    method: 'GET',
    url: '/v1/pages',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['snapshots'],
      summary: 'The history of a page',
      description:
        'Each distinct content that jobs with `snapshots` have seen at the URL, the one that was seen last first. Errors, block pages, ' +
        'CAPTCHAs, log-in walls, missing and empty pages are not in it. See docs/snapshots.md.',
      querystring: z.strictObject({
        url: url.describe('The page.').meta({ examples: ['https://example.com/'] }),
        ...pagingFields,
      }),
      response: answers({ 200: listSchema(snapshotSchema) }),
    },
    async handler(request) {
      const slice = await store.listSnapshots({
        accountId: accountOf(request),
        urlKey: urlKeyOf(request.query.url),
        hasPrivate: mayReadPrivate(request),
        cursor: unwrapCursor('snapshots', request.query.cursor),
        limit: request.query.limit,
      });
      return success(listAnswer('snapshots', slice, snapshotView));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/sightings',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['snapshots'],
      summary: 'Which jobs saw which content, and when',
      description:
        'Of one page, the newest first; or of one job, in the order in which its pages were stored. Give `url` or `job`.',
      querystring: z.strictObject({
        url: url.optional().describe('The page.'),
        job: z.string().max(64).optional().describe('The job.'),
        ...pagingFields,
      }),
      response: answers({ 200: listSchema(sightingSchema) }),
    },
    async handler(request) {
      const { url: page, job, limit, cursor } = request.query;
      if ((page === undefined) === (job === undefined)) {
        throw invalidRequest([{ field: 'url', message: 'Give either `url` or `job`.' }]);
      }
      const slice = await store.listSightings({
        accountId: accountOf(request),
        hasPrivate: mayReadPrivate(request),
        cursor: unwrapCursor('sightings', cursor),
        limit,
        ...(page === undefined ? { jobId: (job ?? '') as JobId } : { urlKey: urlKeyOf(page) }),
      });
      return success(listAnswer('sightings', slice, sightingView));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/snapshots/:id',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['snapshots'],
      summary: 'One content of a page',
      description:
        'With `formats`, what it said, read from the stored body. Null for a body that has no such format.',
      params,
      querystring: z.strictObject({
        formats: formatsField,
        onlyMainContent: z
          .enum(['true', 'false'])
          .default('true')
          .describe('`false`: text and Markdown of the whole page, navigation included.'),
      }),
      response: answers({ 200: contentSchema }),
    },
    async handler(request) {
      const snapshot = await find(request, request.params.id);
      const { formats, onlyMainContent } = request.query;
      const view = snapshotView(snapshot);
      if (formats.length === 0) return success(view);
      const parts = { onlyMain: false, includeTags: [], excludeTags: [] };
      const wanted = { formats, extract: null, ...(onlyMainContent === 'true' ? {} : { parts }) };
      const read = await contents.ofSnapshot(snapshot).read(wanted);
      if (read === null) throw new ScrapifieError('NOT_FOUND', 'The body of the snapshot is missing.');
      const said = Object.fromEntries(formats.map((format) => [format, read[format] ?? null]));
      return success({ ...view, ...said });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/snapshots/:id/screenshot',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['snapshots'],
      summary: 'The picture of a snapshot',
      params,
      response: {
        ...answers({}),
        200: {
          description: 'The bytes.',
          content: { '*/*': { schema: z.unknown().meta({ type: 'string', format: 'binary' }) } },
        },
      },
    },
    async handler(request, reply) {
      const snapshot = await find(request, request.params.id);
      const bytes = await contents.ofSnapshot(snapshot).picture();
      if (bytes === null) throw new ScrapifieError('NOT_FOUND', 'There is no picture of the snapshot.');
      const isJpeg = snapshot.screenshot?.contentType === 'image/jpeg';
      return reply
        .type(isJpeg ? 'image/jpeg' : 'image/png')
        .header('cache-control', 'private, max-age=86400, immutable')
        .header('x-content-type-options', 'nosniff')
        .send(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    },
  });
}

/** A snapshot of the account of the key. Throws NOT_FOUND, and FORBIDDEN for one that the key may not see. */
export async function readableSnapshot(
  store: Pick<SnapshotStore, 'getSnapshot'>,
  request: FastifyRequest,
  id: string,
): Promise<Snapshot> {
  const snapshot = isSnapshotId(id) ? await store.getSnapshot(accountOf(request), id) : null;
  if (snapshot === null) throw new ScrapifieError('NOT_FOUND', `There is no snapshot ${id.slice(0, 64)}.`);
  if (!snapshot.isPrivate || mayReadPrivate(request)) return snapshot;
  throw new ScrapifieError(
    'FORBIDDEN',
    'The snapshot may show what stored credentials give access to: this API key lacks the scope "credentials:read".',
  );
}
