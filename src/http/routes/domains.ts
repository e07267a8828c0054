import { z } from 'zod';
import {
  listAnswer,
  listSchema,
  pagingFields,
  selfLinks,
  selfSchema,
  unwrapCursor,
} from '../../capabilities/views/list.ts';
import { strategySchema, strategyView } from '../../capabilities/views/strategy-view.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { HostKey } from '../../core/model/ids.ts';
import type { HostView, RobotsEntry } from '../../core/ports/host-store.ts';
import type { OptOut } from '../../core/ports/site-owner-store.ts';
import { hostOf } from '../../crawl/frontier/canonical.ts';
import { BUCKET_MS, BUCKETS, sentLimit, sentPoints } from '../../crawl/politeness/sent-requests.ts';
import { isoTime } from '../../lib/iso-time.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import type { RouteDeps } from './route-deps.ts';

const time = z.iso.datetime();
const optOutSchema = z.object({
  host: z.string(),
  reason: z.string(),
  contact: z.string().nullable(),
  at: time,
  minDelayMs: z
    .number()
    .int()
    .nullable()
    .describe('Least time between two requests; null: there are none at all.'),
});
const hostFields = {
  host: z.string().describe('Host name, with the port where it is not the default.'),
  visited: z.boolean(),
  ready: z.number().int().describe('URLs due now, over all jobs.'),
  nextAt: time.nullable(),
  requests: z.number().int(),
  failures: z.number().int(),
  rateFactor: z.number().describe('Below 1 after the host asked to slow down.'),
  blockedUntil: time.nullable(),
  lastRequestAt: time.nullable(),
  breaker: z.enum(['closed', 'open', 'half-open']),
  links: selfSchema,
};
const hostSchema = z.object(hostFields).meta({ id: 'Domain' });
const hostDetailSchema = z
  .object({
    ...hostFields,
    strategy: strategySchema,
    policy: z.unknown().describe('How the host is treated, and which entries of the policy file say so.'),
    denied: z.string().nullable().describe('The rule that denies the host; null when none does.'),
    robots: z.array(
      z.object({
        origin: z.string(),
        status: z.string(),
        fetchedAt: time,
        expiresAt: time,
        reason: z.string(),
        body: z.string().describe('The file as it is stored; empty where there is none.'),
      }),
    ),
    optOut: optOutSchema.nullable(),
  })
  .meta({ id: 'DomainDetail' });
const hostParams = z.strictObject({ host: z.string().min(1).max(300) });

const isoOrNull = (at: number | null) => (at === null || at <= 0 ? null : isoTime(at));

function hostView(host: HostKey, view: HostView | null) {
  const state = view?.state;
  return {
    host,
    visited: (state?.requests ?? 0) > 0,
    ready: view?.ready ?? 0,
    nextAt: isoOrNull(view?.nextAt ?? null),
    requests: state?.requests ?? 0,
    failures: state?.failures ?? 0,
    rateFactor: state?.rateFactor ?? 1,
    blockedUntil: isoOrNull(state?.blockedUntil ?? null),
    lastRequestAt: isoOrNull(state?.lastRequestAt ?? null),
    breaker: state?.breaker.phase ?? ('closed' as const),
    links: selfLinks('domains', host),
  };
}

const optOutView = (optOut: OptOut) => ({ ...optOut, at: isoTime(optOut.at) });
const robotsView = ({ origin, status, fetchedAt, expiresAt, reason, body }: RobotsEntry) => ({
  origin,
  status,
  fetchedAt: isoTime(fetchedAt),
  expiresAt: isoTime(expiresAt),
  reason,
  body,
});

/** An opt-out covers subdomains too; ports do not matter to a site owner. */
function coveredBy(host: HostKey, optOuts: readonly OptOut[]): OptOut | null {
  const name = host.replace(/:\d+$/, '');
  return (
    optOuts.find((each) => [name, host].some((one) => one === each.host || one.endsWith(`.${each.host}`))) ??
    null
  );
}

export function addDomainRoutes(app: App, { store, bus, policies, now }: RouteDeps): void {
  app.route({
    method: 'GET',
    url: '/v1/domains',
    config: { access: 'installation' },
    schema: {
      tags: ['domains'],
      summary: 'Hosts this installation has dealt with',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(hostSchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('domains', request.query.cursor);
      const slice = await store.listHosts({ cursor, limit: request.query.limit });
      return success(listAnswer('domains', slice, (view) => hostView(view.key, view)));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/domains/:host',
    config: { access: 'installation' },
    schema: {
      tags: ['domains'],
      summary: 'One host: policy, learned strategy, breaker, robots.txt, opt-out, statistics',
      params: hostParams,
      response: answers({ 200: hostDetailSchema }),
    },
    async handler(request) {
      const host = hostOf(request.params.host);
      const [view, optOuts, ...robots] = await Promise.all([
        store.getHost(host),
        store.listOptOuts(),
        store.getRobots(`https://${host}`),
        store.getRobots(`http://${host}`),
      ]);
      const optOut = coveredBy(host, optOuts);
      return success({
        ...hostView(host, view),
        strategy: strategyView(view?.state.memory, now()),
        policy: policies.policyFor(host),
        denied: policies.denied(host)?.rule ?? null,
        robots: robots.filter((entry) => entry !== null).map(robotsView),
        optOut: optOut === null ? null : optOutView(optOut),
      });
    },
  });

  app.route({
    method: 'POST',
    url: '/v1/domains/:host/opt-out',
    config: { access: 'operator' },
    schema: {
      tags: ['domains'],
      summary: 'Record a site owner’s request not to be crawled',
      description: 'Takes effect at once: open URLs of the host and its subdomains are denied in every job.',
      params: hostParams,
      body: z
        .strictObject({
          reason: z.string().trim().min(1).max(1_000).default('site owner’s request'),
          contact: z
            .string()
            .trim()
            .min(1)
            .max(320)
            .nullable()
            .default(null)
            .describe('Contact of the person who asked for the opt-out.'),
        })
        .prefault({})
        .meta({ examples: [{ reason: 'asked by mail', contact: 'owner@example.com' }] }),
      response: answers({ 200: optOutSchema }),
    },
    async handler(request) {
      const host = hostOf(request.params.host);
      const at = now();
      const optOut: OptOut = {
        host,
        reason: request.body.reason,
        contact: request.body.contact,
        at,
        minDelayMs: null,
      };
      await store.addOptOut(optOut);
      await store.audit([
        {
          at,
          actor: apiKeyOf(request).id,
          action: 'domain.opt-out',
          target: host,
          details: { reason: optOut.reason },
        },
      ]);
      bus.publish('policy.changed', {});
      return success(optOutView(optOut));
    },
  });

  app.route({
    method: 'DELETE',
    url: '/v1/domains/:host/opt-out',
    config: { access: 'operator' },
    schema: {
      tags: ['domains'],
      summary: 'Take an opt-out back',
      params: hostParams,
      response: answers({ 200: z.object({ host: z.string(), removed: z.literal(true) }) }),
    },
    async handler(request) {
      const host = hostOf(request.params.host);
      if (!(await store.removeOptOut(host)))
        throw new ScrapifieError('NOT_FOUND', `${host} has not opted out.`);
      const actor = apiKeyOf(request).id;
      await store.audit([{ at: now(), actor, action: 'domain.opt-in', target: host, details: {} }]);
      bus.publish('policy.changed', {});
      return success({ host, removed: true as const });
    },
  });
}

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
        from: isoTime(until - BUCKETS * BUCKET_MS),
        until: isoTime(until),
        bucketMs: BUCKET_MS,
        points: sentPoints(view?.state.sent, at).map(({ at, requests }) => ({ at: isoTime(at), requests })),
        limit: sentLimit(policies.policyFor(host)),
      });
    },
  });
}
