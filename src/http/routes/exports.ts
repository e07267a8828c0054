import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isReadable, requireReadable } from '../../capabilities/accounts/scopes.ts';
import { nameForPeople } from '../../capabilities/exports/export-file.ts';
import { exportRequestSchema, specOf } from '../../capabilities/exports/exports.ts';
import { exportSchema, exportView } from '../../capabilities/views/export-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { Export, ExportSpec } from '../../core/model/export.ts';
import { exportFormatSpec } from '../../core/model/export-registry.ts';
import type { ExportId, JobId } from '../../core/model/ids.ts';
import type { FoundKey } from '../../core/ports/key-store.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf, originOf } from '../server/caller.ts';
import { answers, deletedSchema, success } from '../server/envelope.ts';
import { newIdFor } from '../server/kept-answers.ts';
import { namesTag, rangeOf } from '../server/large-answers.ts';
import type { RouteDeps } from './route-deps.ts';

const jobParams = z.strictObject({ id: z.string().max(64).describe('The job.') });
const params = z.strictObject({ id: z.string().min(1).max(100).describe('The export.') });
const linkQuery = z.strictObject({
  expires: z.coerce.number().int().min(0).max(99_999_999_999).optional().describe('Of a signed link.'),
  signature: z.string().max(100).optional().describe('Of a signed link, in place of an API key.'),
});
const CHUNK_BYTES = 65_536;

/** Files made of jobs: tables, archives, texts for language models. */
export function addExportRoutes(app: App, { exports, store, jobs, bus, now }: RouteDeps): void {
  const view = (request: FastifyRequest, of: Export) => exportView(of, originOf(request), now());
  const audit = (actor: string, action: AuditAction, target: string, details: Record<string, unknown> = {}) =>
    store.audit([{ at: now(), actor, action, target, details }]);

  app.route({
    method: 'POST',
    url: '/v1/jobs/:id/exports',
    config: { access: 'exports', creates: true },
    schema: {
      tags: ['exports'],
      summary: 'Export a job',
      description:
        'The file is written in the background, of what is stored of the job by then, in the order of the URLs. Ask for the ' +
        'export until its `status` is `ready`, or wait for the event `export.ready`.',
      params: jobParams,
      body: exportRequestSchema,
      response: answers({ 202: exportSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const job = await jobs.get(request.params.id, key.accountId);
      requireReadable(key, job);
      const spec = specOf(request.body);
      await requireAgainst(key, spec);
      const made = await exports.create(job, spec, `exp_${newIdFor(request)}` as ExportId);
      const { type, format } = spec;
      await audit(key.id, 'export.create', made.id, { job: job.id, type, format });
      bus.publish('export.created', {});
      reply.code(202).header('location', `/v1/exports/${made.id}`);
      return success(view(request, made));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/jobs/:id/exports',
    config: { access: 'exports' },
    schema: {
      tags: ['exports'],
      summary: 'List the exports of a job, newest first',
      params: jobParams,
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(exportSchema) }),
    },
    async handler(request) {
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      return listed(request, request.query, job.id);
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/exports',
    config: { access: 'exports' },
    schema: {
      tags: ['exports'],
      summary: 'List exports, newest first',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(exportSchema) }),
    },
    handler: (request) => listed(request, request.query),
  });

  async function listed(
    request: FastifyRequest,
    { cursor, limit }: { cursor?: string | undefined; limit: number },
    jobId?: JobId,
  ) {
    const query = { accountId: accountOf(request), jobId, cursor: unwrapCursor('exports', cursor), limit };
    const { items, nextCursor } = await exports.list(query);
    // Links of private exports are for keys that may read them, so others do not see these exports.
    const seen = await Promise.all(items.map((each) => mayRead(apiKeyOf(request), each)));
    const slice = { items: items.filter((_, index) => seen[index]), nextCursor };
    return success(listAnswer('exports', slice, (each) => view(request, each)));
  }

  app.route({
    method: 'GET',
    url: '/v1/exports/:id',
    config: { access: 'exports' },
    schema: {
      tags: ['exports'],
      summary: 'One export',
      params,
      response: answers({ 200: exportSchema }),
    },
    async handler(request) {
      return success(view(request, await readable(request, request.params.id)));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/exports/:id',
    config: { access: 'exports' },
    schema: {
      tags: ['exports'],
      summary: 'Delete an export with its file',
      description: 'One that is being written is stopped. Links to it stop working.',
      params,
      response: answers({ 200: deletedSchema }),
    },
    async handler(request) {
      const { accountId, id: actor } = apiKeyOf(request);
      const { id } = request.params;
      await readable(request, id);
      await exports.delete(accountId, id);
      await audit(actor, 'export.delete', id);
      return success({ id, deleted: true as const });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/exports/:id/download',
    config: { access: 'exports', isSigned: true },
    schema: {
      tags: ['exports'],
      summary: 'The file of an export',
      description:
        'With an API key, or by the signed link that an export has as `url`. `Range` gives a part of it, `ETag` is its SHA-256.',
      params,
      querystring: linkQuery,
      response: {
        ...answers({}),
        200: binary('The file.'),
        206: binary('A part of the file.'),
        304: z.unknown().meta({ type: 'null', description: 'Unchanged.' }),
        416: z.unknown().meta({ type: 'null', description: 'The file has no such part.' }),
      },
    },
    async handler(request, reply) {
      const { expires = 0, signature } = request.query;
      const { id } = request.params;
      const found =
        request.key === null
          ? await exports.linked(id, { expires, signature: signature ?? '' })
          : await readable(request, id);
      return send(request, reply, found);
    },
  });

  async function readable(request: FastifyRequest, id: string): Promise<Export> {
    const key = apiKeyOf(request);
    const found = await exports.get(key.accountId, id);
    const job = await store.getJob(found.jobId);
    if (job !== null) requireReadable(key, job);
    await requireAgainst(key, found.spec);
    return found;
  }

  /** A diff shows pages of both jobs. One that is gone has nothing to hide any more; `create` refuses it. */
  async function requireAgainst(key: FoundKey, { against }: ExportSpec): Promise<void> {
    const previous = against === undefined ? null : await store.getJob(against);
    if (previous?.accountId === key.accountId) requireReadable(key, previous);
  }

  async function mayRead(key: FoundKey, { jobId, spec }: Export): Promise<boolean> {
    const ids = [jobId, ...(spec.against === undefined ? [] : [spec.against])];
    const found = await Promise.all(ids.map((id) => store.getJob(id)));
    return found.every((job) => job === null || isReadable(key, job));
  }

  async function send(request: FastifyRequest, reply: FastifyReply, of: Export): Promise<FastifyReply> {
    const etag = `"${of.sha256 ?? ''}"`;
    const { headers } = request;
    // A part of another file would be of no use, so `If-Range` with another tag asks for all of it.
    const isSame = headers['if-range'] === undefined || headers['if-range'] === etag;
    const range = of.status === 'ready' && isSame ? rangeOf(headers.range, of.sizeBytes) : 'whole';
    if (of.status === 'ready') {
      reply
        .header('etag', etag)
        .header('accept-ranges', 'bytes')
        .header('cache-control', 'private, no-cache');
      if (namesTag(headers['if-none-match'], etag)) return reply.code(304).send('');
    }
    if (range === 'beyond') {
      reply.header('content-range', `bytes */${of.sizeBytes}`);
      throw new ScrapifieError('RANGE_NOT_SATISFIABLE', `The file has ${of.sizeBytes} bytes.`);
    }
    const job = (await store.getJob(of.jobId)) ?? { id: of.jobId, seeds: [] };
    const part = range === 'whole' ? { start: 0, end: of.sizeBytes } : range;
    const bytes = await exports.read(of, part);
    if (range !== 'whole') {
      reply.code(206).header('content-range', `bytes ${part.start}-${part.end - 1}/${of.sizeBytes}`);
    }
    return reply
      .type(exportFormatSpec(of.spec.format).contentType)
      .header('content-length', part.end - part.start)
      .header('content-disposition', `attachment; filename="${nameForPeople(of, job)}"`)
      .header('x-content-type-options', 'nosniff')
      .send(Readable.from(bytes, { objectMode: false, highWaterMark: CHUNK_BYTES }));
  }
}

const binary = (description: string) => ({
  description,
  content: { '*/*': { schema: z.unknown().meta({ type: 'string', format: 'binary' }) } },
});
