import { z } from 'zod';
import { noSuchAccount } from '../../capabilities/accounts/accounts.ts';
import { accountField, accountMeant } from '../../capabilities/accounts/key-admin.ts';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { retentionRequest } from '../../capabilities/retention/retention-admin.ts';
import {
  creditsSchema,
  creditsView,
  keySchema,
  keyView,
  usageSchema,
  usageView,
  usedBy,
  usedSchema,
} from '../../capabilities/views/account-view.ts';
import { listAnswer, listSchema, pagingFields, unwrapCursor } from '../../capabilities/views/list.ts';
import { limitFields } from '../../core/config/plans-and-prices.ts';
import { dayOf } from '../../core/model/credits.ts';
import { USAGE_GROUPS } from '../../core/ports/credit-store.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps, SharedRouteDeps } from './route-deps.ts';

export function addAccountRoutes(app: App, { store, settings, version }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/account',
    config: { access: 'key' },
    schema: {
      tags: ['account'],
      summary: 'The account of the API key, its limits and what it uses of them',
      response: answers({
        200: z
          .object({
            id: z.string(),
            name: z.string(),
            plan: z.string(),
            key: keySchema,
            limits: z.object({
              requestsPerMinute: z
                .number()
                .int()
                .describe('Of the key, or of all keys of the account where that is less.'),
              concurrentPages: limitFields.concurrentPages,
              openUrls: limitFields.openUrls,
              storedBytes: limitFields.storedBytes,
              bodyBytes: z.number().int(),
              queuedUrls: z.number().int().describe('URLs of all accounts that may wait together.'),
            }),
            used: usedSchema,
            credits: creditsSchema.nullable().describe('What is left to spend; null: it is not limited.'),
            version: z.string(),
          })
          .meta({ id: 'OwnAccount' }),
      }),
    },
    async handler(request) {
      const key = apiKeyOf(request);
      const [account, used, credits] = await Promise.all([
        store.getAccount(key.accountId),
        usedBy(store, key.accountId),
        store.getCredits(key.accountId),
      ]);
      if (account === null) throw noSuchAccount(key.accountId);
      const { requestsPerMinute, ...limits } = account.limits;
      const ofKey = key.ratePerMinute ?? settings.rateLimitPerMinute;
      return success({
        id: account.id,
        name: account.name,
        plan: account.plan,
        key: keyView(key),
        limits: {
          ...limits,
          requestsPerMinute: Math.min(ofKey, requestsPerMinute ?? ofKey),
          bodyBytes: settings.bodyLimitBytes,
          queuedUrls: settings.maxQueuedUrls,
        },
        used,
        credits: credits === null ? null : creditsView(credits),
        version,
      });
    },
  });
}

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

const ms = z.number().int().nullable();
const limitsSchema = z
  .object({
    bodiesMs: ms,
    artifactsMs: ms,
    recordsMs: ms,
    ledgerMs: ms,
    jobsMs: ms,
    exportsMs: ms,
    snapshotsMs: ms,
    maxJobs: z.number().int().nullable().describe('Ended jobs that are kept, the newest; null: all.'),
    maxBytes: z.number().int().nullable().describe('Bytes of fetched pages that are kept; null: all.'),
  })
  .meta({ id: 'RetentionLimits', description: 'How long each kind of data is kept; null: without limit.' });
const retentionSchema = z
  .object({
    own: limitsSchema.nullable().describe('What the account asked for; null: nothing.'),
    operator: limitsSchema.nullable().describe('What the operator set for the account; null: nothing.'),
    effective: limitsSchema.describe(
      'What holds: the shortest time of account, operator and installation; null: without limit.',
    ),
  })
  .meta({ id: 'Retention' });
const params = z.strictObject({ id: z.string().max(64).describe('The account.') });

/** How long data is kept, and deleting accounts. */
export function addRetentionRoutes(app: App, { retentionAdmin: retention }: SharedRouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/account/retention',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['account'],
      summary: 'How long the data of the account is kept',
      response: answers({ 200: retentionSchema }),
    },
    handler: async (request) => success(await retention.get(accountOf(request))),
  });

  app.route({
    method: 'PUT',
    url: '/v1/account/retention',
    config: { access: 'admin' },
    schema: {
      tags: ['account'],
      summary: 'Say how long the data of the account is kept',
      description:
        'Fields left out are without limit. The operator and the installation may keep data for a shorter time.',
      body: retentionRequest,
      response: answers({ 200: retentionSchema }),
    },
    async handler(request) {
      const by = { actor: apiKeyOf(request).id };
      return success(await retention.set(accountOf(request), 'own', request.body, by));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/accounts/:id/retention',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'How long the data of an account is kept',
      params,
      response: answers({ 200: retentionSchema }),
    },
    handler: async (request) => success(await retention.get(request.params.id)),
  });

  app.route({
    method: 'PUT',
    url: '/v1/accounts/:id/retention',
    config: { access: 'operator' },
    schema: {
      tags: ['account'],
      summary: 'Say how long the data of an account is kept',
      description:
        'As `PUT /v1/account/retention`, for another account. It is kept apart from what the account says, and the ' +
        'shortest time counts: the account cannot keep data for longer. Fields left out are without limit.',
      params,
      body: retentionRequest,
      response: answers({ 200: retentionSchema }),
    },
    async handler(request) {
      const by = { actor: apiKeyOf(request).id };
      return success(await retention.set(request.params.id, 'operator', request.body, by));
    },
  });
}
