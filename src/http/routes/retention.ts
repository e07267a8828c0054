import { z } from 'zod';
import { retentionRequest } from '../../capabilities/retention/retention-admin.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { SharedRouteDeps } from './route-deps.ts';

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
