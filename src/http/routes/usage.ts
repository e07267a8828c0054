import { z } from 'zod';
import { noSuchAccount } from '../../capabilities/accounts/accounts.ts';
import { accountField, accountMeant } from '../../capabilities/accounts/key-admin.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { usageSchema, usageView } from '../../capabilities/views/account-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { dayOf } from '../../core/model/credits.ts';
import { USAGE_GROUPS } from '../../core/ports/credit-store.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

/** The longest span of one question: each day of it costs a look at the store. */
const MOST_DAYS = 366;
const DEFAULT_DAYS = 30;

const date = z.iso.date().optional();

export function addUsageRoutes(app: App, { store, now }: SharedRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/usage',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['account'],
      summary: 'What the account has used, by day, key, job, engine or host',
      description:
        `Sums over the days from \`from\` to \`to\` in UTC, both included, at most ${MOST_DAYS} of them, in the order of ` +
        'their values. What is committed is in it at once, and stays when jobs are deleted.',
      querystring: z.strictObject({
        by: z.enum(USAGE_GROUPS).default('day'),
        from: date.describe(`A date; left out: ${DEFAULT_DAYS - 1} days before \`to\`.`),
        to: date.describe('A date; left out: today.'),
        account: accountField,
        ...pagingFields,
      }),
      response: answers({ 200: listSchema(usageSchema) }),
    },
    async handler(request) {
      const { by, limit } = request.query;
      const { from, to } = daysOf(request.query, now());
      const cursor = unwrapCursor('usage', request.query.cursor);
      const own = apiKeyOf(request);
      const accountId = accountMeant(own, request.query.account);
      if (accountId !== own.accountId && (await store.getAccount(accountId)) === null) {
        throw noSuchAccount(accountId);
      }
      const slice = await store.listUsage({ accountId, by, from, to, cursor, limit });
      return success(listAnswer('usage', slice, usageView));
    },
  });
}

/** The days that are asked for. Throws VALIDATION_FAILED for a span that is too long or ends before it begins. */
export function daysOf(
  query: { readonly from?: string | undefined; readonly to?: string | undefined },
  now: number,
): { from: number; to: number } {
  const to = query.to === undefined ? dayOf(now) : dayOf(Date.parse(query.to));
  const from = query.from === undefined ? to - DEFAULT_DAYS + 1 : dayOf(Date.parse(query.from));
  if (from > to) throw invalidRequest([{ field: 'from', message: 'must not be after `to`' }]);
  if (to - from >= MOST_DAYS) {
    throw invalidRequest([{ field: 'from', message: `must be at most ${MOST_DAYS - 1} days before \`to\`` }]);
  }
  return { from, to };
}
