import { z } from 'zod';
import { hostOf } from '../../crawl/frontier/canonical.ts';
import { BUCKET_MS, BUCKETS, sentLimit, sentPoints } from '../../crawl/politeness/sent-requests.ts';
import type { App } from '../server/app.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const time = z.iso.datetime();
const count = z.number().int();

const requestsSchema = z
  .object({
    host: z.string(),
    from: time.describe('When the first bucket of the hour begins.'),
    until: time.describe('When the last bucket ends, which is the present one.'),
    bucketMs: count.describe('The length of a bucket.'),
    points: z
      .array(z.object({ at: time.describe('When the bucket begins.'), requests: count }))
      .describe('The buckets in which requests were sent, oldest first.'),
    limit: z.object({
      perSecond: z
        .number()
        .nullable()
        .describe('Requests per second by the policy in force now; null: unlimited.'),
      perBucket: count
        .nullable()
        .describe('The most requests that the policy allows in a bucket, with its burst; null: unlimited.'),
    }),
  })
  .meta({ id: 'DomainRequests' });

const iso = (at: number) => new Date(at).toISOString();

export function addDomainRequestRoutes(app: App, { store, policies, now }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/domains/:host/requests',
    config: { access: 'installation' },
    schema: {
      tags: ['domains'],
      summary: 'Requests sent to a host within the last hour, and what its policy allows',
      description:
        'Counted by the owner of the host and stored every ten seconds while it works. What a browser loads besides the document of a page is not counted.',
      params: z.strictObject({ host: z.string().min(1).max(300) }),
      response: answers({ 200: requestsSchema }),
    },
    async handler(request) {
      const host = hostOf(request.params.host);
      const view = await store.getHost(host);
      const at = now();
      const until = (Math.floor(at / BUCKET_MS) + 1) * BUCKET_MS;
      return success({
        host,
        from: iso(until - BUCKETS * BUCKET_MS),
        until: iso(until),
        bucketMs: BUCKET_MS,
        points: sentPoints(view?.state.sent, at).map(({ at, requests }) => ({ at: iso(at), requests })),
        limit: sentLimit(policies.policyFor(host)),
      });
    },
  });
}
