import { z } from 'zod';
import { retentionAgeFields, retentionAgesOf } from '../../jobs/retention-fields.ts';
import type { AccountId } from '../../model/ids.ts';
import { RETAINED_KINDS, type RetentionLimits, UNLIMITED_RETENTION } from '../../model/retention.ts';
import type { AccountRetention } from '../../ports/account-deletion-store.ts';
import { installationLimits, limitsOfAccount } from '../../retention/installation-limits.ts';
import { accountOf, apiKeyOf } from '../access/access.ts';
import { noSuchAccount } from '../access/accounts.ts';
import type { App } from '../http/app.ts';
import { answers, success } from '../http/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const ms = z.number().int().nullable();
const limitsSchema = z.object({
  bodiesMs: ms,
  artifactsMs: ms,
  recordsMs: ms,
  ledgerMs: ms,
  jobsMs: ms,
  maxJobs: z.number().int().nullable(),
  maxBytes: z.number().int().nullable(),
});
const retentionSchema = z
  .object({
    own: limitsSchema.nullable().describe('What the account asked for; null: nothing.'),
    operator: limitsSchema.nullable().describe('What the operator set for the account; null: nothing.'),
    effective: limitsSchema.describe(
      'What holds: the shortest time of account, operator and installation; null: without limit.',
    ),
  })
  .meta({ id: 'Retention' });
const most = z.number().int().min(1).max(Number.MAX_SAFE_INTEGER).nullable().default(null);
const retentionRequest = z
  .strictObject({
    ...retentionAgeFields,
    maxJobs: most.describe('Ended jobs that are kept, the newest; null: all.'),
    maxBytes: most.describe(
      'Bytes of fetched pages that are kept; beyond that the oldest bodies go. null: all.',
    ),
  })
  .meta({ examples: [{ bodies: '24h', jobs: '30d', maxJobs: 1_000 }] });

function limitsView({ ages, maxJobs, maxBytes }: RetentionLimits) {
  const times = RETAINED_KINDS.map((kind) => [`${kind}Ms`, ages[`${kind}Ms`] ?? null] as const);
  return {
    ...(Object.fromEntries(times) as Record<`${(typeof RETAINED_KINDS)[number]}Ms`, number | null>),
    maxJobs,
    maxBytes,
  };
}

const params = z.strictObject({ id: z.string().max(64).describe('The account.') });

/** How long data is kept, and deleting accounts. */
export function addRetentionRoutes(app: App, { store, settings, now }: RouteDeps): void {
  const installation = installationLimits(settings);

  async function view(id: AccountId) {
    const { own, operator } = await store.accountRetention(id);
    return {
      own: own === null ? null : limitsView(own),
      operator: operator === null ? null : limitsView(operator),
      effective: limitsView(await limitsOfAccount(store, id, installation)),
    };
  }

  async function change(
    id: AccountId,
    by: keyof AccountRetention,
    given: z.output<typeof retentionRequest>,
    actor: string,
  ) {
    const { maxJobs, maxBytes, ...ages } = given;
    const limits: RetentionLimits = {
      ...UNLIMITED_RETENTION,
      ages: retentionAgesOf(ages) ?? {},
      maxJobs,
      maxBytes,
    };
    if (!(await store.setAccountRetention(id, by, limits))) throw noSuchAccount(id);
    const details = { by, ...limitsView(limits) };
    await store.audit([{ at: now(), actor, action: 'account.retention', target: id, details }]);
    return view(id);
  }

  app.route({
    method: 'GET',
    url: '/v1/account/retention',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['account'],
      summary: 'How long the data of the account is kept',
      response: answers({ 200: retentionSchema }),
    },
    handler: async (request) => success(await view(accountOf(request))),
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
    handler: async (request) =>
      success(await change(accountOf(request), 'own', request.body, apiKeyOf(request).id)),
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
    async handler(request) {
      const account = await store.getAccount(request.params.id as AccountId);
      if (account === null) throw noSuchAccount(request.params.id);
      return success(await view(account.id));
    },
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
    handler: async (request) =>
      success(await change(request.params.id as AccountId, 'operator', request.body, apiKeyOf(request).id)),
  });
}
