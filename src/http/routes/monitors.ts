import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { allows } from '../../capabilities/accounts/scopes.ts';
import {
  monitorChangeSchema as changeRequestSchema,
  monitorRequestSchema,
  monitorPreviewSchema as previewRequestSchema,
} from '../../capabilities/monitors/monitor-request.ts';
import type { MonitorDetail } from '../../capabilities/monitors/monitors.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import {
  monitorChangeSchema,
  monitorChangeView,
  monitorPreviewSchema,
  monitorPreviewView,
  monitorSchema,
  monitorView,
} from '../../capabilities/views/monitor-view.ts';
import { runSchema, runView } from '../../capabilities/views/schedule-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { MonitorId, RunId } from '../../core/model/ids.ts';
import { CHANGE_KINDS } from '../../core/model/monitor.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf, ownerOf, placeOfCaller } from '../server/caller.ts';
import { answers, deletedSchema, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

const params = z.strictObject({ id: z.string().max(64).describe('The monitor.') });

const changesQuery = z.strictObject({
  ...pagingFields,
  kind: z.enum(CHANGE_KINDS).optional().describe('Only changes of this kind.'),
  url: z.string().max(8_192).optional().describe('Only changes of this page.'),
  change: z.string().max(64).optional().describe('Only the change with this id.'),
  since: z.iso.datetime().optional().describe('Only changes from this time on.'),
});

export function addMonitorRoutes(app: App, { monitors, store, idempotency, now }: SharedRouteDeps): void {
  /** After the change: what was refused has not happened. */
  async function record(request: FastifyRequest, action: AuditAction, target: string): Promise<void> {
    const { id: actor } = apiKeyOf(request);
    await store.audit([{ at: now(), actor, action, target, details: placeOfCaller(request) }]);
  }

  app.route({
    method: 'POST',
    url: '/v1/monitors',
    config: { access: 'schedules', creates: true },
    schema: {
      tags: ['monitors'],
      summary: 'Watch pages, a site or a sitemap for changes',
      description:
        'The first check begins at once and makes the baseline. Changes are told by the events `page.changed` and ' +
        '`monitor.changed`; clocks, counters, advertisements, outages and block pages are none. See docs/monitors.md.',
      body: monitorRequestSchema,
      response: answers({ 201: monitorSchema }),
    },
    async handler(request, reply) {
      const { id, isRepeated } = idempotency.idOf(request);
      const detail = await monitors.create(request.body, ownerOf(request), id as string as MonitorId);
      if (!isRepeated) await record(request, 'monitor.create', detail.monitor.id);
      reply.code(201).header('location', `/v1/monitors/${detail.monitor.id}`);
      return success(monitorView(detail));
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/monitors/preview',
    config: { access: 'schedules' },
    schema: {
      tags: ['monitors'],
      summary: 'What would be watched on a page now',
      description: 'Fetches the page and answers with the texts and fields that a monitor would compare.',
      body: previewRequestSchema,
      response: answers({ 200: monitorPreviewSchema }),
    },
    handler: async (request) =>
      success(monitorPreviewView(await monitors.preview(request.body, ownerOf(request)))),
  });

  app.route({
    method: 'GET',
    url: '/v1/monitors',
    config: { access: 'schedules' },
    schema: {
      tags: ['monitors'],
      summary: 'List monitors, newest first',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(monitorSchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('monitors', request.query.cursor);
      const { limit } = request.query;
      const slice = await monitors.list({ accountId: accountOf(request), cursor, limit });
      return success(listAnswer('monitors', slice, monitorView));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/monitors/:id',
    config: { access: 'schedules' },
    schema: {
      tags: ['monitors'],
      summary: 'One monitor',
      params,
      response: answers({ 200: monitorSchema }),
    },
    handler: async (request) =>
      success(monitorView(await monitors.get(accountOf(request), request.params.id))),
  });

  app.route({
    method: 'PATCH',
    url: '/v1/monitors/:id',
    config: { access: 'schedules' },
    schema: {
      tags: ['monitors'],
      summary: 'Change a monitor',
      description:
        'Fields that are left out stay. With another `watch`, `ignore`, `site` or `sitemap` the next check makes a new ' +
        'baseline. `SECRETS_BOUND` when a URL has an origin that was not watched before, and `options` that stay hold ' +
        'headers, cookies or typed text.',
      params,
      body: changeRequestSchema,
      response: answers({ 200: monitorSchema }),
    },
    async handler(request) {
      requireReadable(request, await monitors.get(accountOf(request), request.params.id));
      const detail = await monitors.update(request.params.id, request.body, ownerOf(request));
      await record(request, 'monitor.update', detail.monitor.id);
      return success(monitorView(detail));
    },
  });

  for (const action of ['pause', 'resume'] as const) {
    app.route({
      method: 'POST',
      url: `/v1/monitors/:id/${action}`,
      config: { access: 'schedules' },
      schema: {
        tags: ['monitors'],
        summary: action === 'pause' ? 'Pause a monitor' : 'Go on with a paused monitor',
        params,
        response: answers({ 200: monitorSchema }),
      },
      async handler(request) {
        const detail = await monitors[action](accountOf(request), request.params.id);
        await record(request, `monitor.${action}`, detail.monitor.id);
        return success(monitorView(detail));
      },
    });
  }

  app.route({
    method: 'POST',
    url: '/v1/monitors/:id/run',
    config: { access: 'schedules', creates: true },
    schema: {
      tags: ['monitors'],
      summary: 'Check now',
      description:
        '409 while a check is under way. A paused monitor checks, too. Its times stay as they are.',
      params,
      response: answers({ 202: runSchema }),
    },
    async handler(request, reply) {
      const { id } = idempotency.idOf(request);
      const run = await monitors.runNow(accountOf(request), request.params.id, id as string as RunId);
      await record(request, 'monitor.run', request.params.id);
      reply.code(202);
      return success(runView(run));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/monitors/:id/changes',
    config: { access: 'schedules' },
    schema: {
      tags: ['monitors'],
      summary: 'The changes that a monitor has told, newest first',
      description: 'The last 10,000 at least, each with its structured diff.',
      params,
      querystring: changesQuery,
      response: answers({ 200: listSchema(monitorChangeSchema) }),
    },
    async handler(request) {
      const { kind, url, since, limit, change } = request.query;
      const accountId = accountOf(request);
      const { id } = request.params;
      requireReadable(request, await monitors.get(accountId, id));
      if (change !== undefined) {
        const items = [await monitors.change(accountId, id, change)];
        return success(listAnswer('monitor-changes', { items, nextCursor: null }, monitorChangeView));
      }
      const slice = await monitors.changes({
        accountId,
        id,
        kind,
        url,
        since: since === undefined ? undefined : Date.parse(since),
        cursor: unwrapCursor('monitor-changes', request.query.cursor),
        limit,
      });
      return success(listAnswer('monitor-changes', slice, monitorChangeView));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/monitors/:id',
    config: { access: 'schedules' },
    schema: {
      tags: ['monitors'],
      summary: 'Delete a monitor with its schedule and changes; its jobs stay',
      params,
      response: answers({ 200: deletedSchema }),
    },
    async handler(request) {
      const { id } = request.params;
      await monitors.delete(accountOf(request), id);
      await record(request, 'monitor.delete', id);
      return success({ id, deleted: true as const });
    },
  });
}

/** Diffs of pages that stored credentials give access to are for keys that may read these. */
function requireReadable(request: FastifyRequest, { schedule }: MonitorDetail): void {
  const { credentials, request: stored } = schedule.job;
  const { options } = stored as { readonly options: { readonly session: string | null } };
  if (credentials !== 'read' || options.session === null) return;
  if (allows(apiKeyOf(request).scopes, 'credentials:read')) return;
  throw new ScrapifieError(
    'FORBIDDEN',
    'The changes may show what stored credentials give access to: this API key lacks the scope "credentials:read".',
  );
}
