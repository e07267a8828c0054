import { z } from 'zod';
import { auditSchema, auditView } from '../../capabilities/views/account-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { type AuditRecord, eachAudit } from '../../core/ports/audit-store.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { orLines, sendNdjson, wantsNdjson } from '../server/large-answers.ts';
import { refuseCursor } from './job-pages.ts';
import type { RouteDeps } from './route-deps.ts';

const word = z.string().min(1).max(400).optional();
const time = z.iso.datetime({ offset: true }).optional();
async function* views(records: AsyncIterable<AuditRecord>) {
  for await (const record of records) yield auditView(record);
}

export function addAuditRoutes(app: App, { store, now }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/audit',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'Read the audit log',
      description:
        'Newest entries first. With `Accept: application/x-ndjson` every entry that the conditions select is streamed, ' +
        'oldest first, one object per line: `scrapifie audit verify` checks such a file when no condition was given. ' +
        'Entries are never changed or deleted.',
      querystring: z.strictObject({
        action: word.describe('Entries with exactly this action.'),
        actor: word,
        target: word,
        since: time.describe('Entries of this time or later.'),
        until: time.describe('Entries before this time.'),
        ...pagingFields,
      }),
      response: orLines(answers({ 200: listSchema(auditSchema) })),
    },
    async handler(request, reply) {
      const { cursor, limit, since, until, ...conditions } = request.query;
      const query = {
        ...conditions,
        since: since === undefined ? undefined : Date.parse(since),
        until: until === undefined ? undefined : Date.parse(until),
      };
      if (wantsNdjson(request)) {
        refuseCursor(cursor);
        const { id: actor } = apiKeyOf(request);
        const details = { address: request.ip };
        await store.audit([{ at: now(), actor, action: 'audit.export', target: 'audit', details }]);
        return sendNdjson(reply, views(eachAudit(store, query)));
      }
      const slice = await store.listAudit({ ...query, limit, cursor: unwrapCursor('audit', cursor) });
      return success(listAnswer('audit', slice, auditView));
    },
  });
}
