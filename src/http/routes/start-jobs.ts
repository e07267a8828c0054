import type { FastifyReply } from 'fastify';
import { credentialAccessOf } from '../../capabilities/accounts/api-key.ts';
import { requireReadable } from '../../capabilities/accounts/scopes.ts';
import { invalidUrlsOf } from '../../capabilities/jobs/accept/job-draft.ts';
import {
  batchRequestSchema,
  crawlRequestSchema,
  mapRequestSchema,
  scrapeRequestSchema,
} from '../../capabilities/jobs/request/job-request.ts';
import type { ScrapeResult } from '../../capabilities/jobs/results/job-reader.ts';
import { patienceFor } from '../../capabilities/jobs/waits/job-waits.ts';
import {
  acceptedBatchSchema,
  acceptedSchema,
  acceptedView,
  jobLinks,
} from '../../capabilities/views/job-view.ts';
import { mapSchema, scrapeSchema } from '../../capabilities/views/page-schemas.ts';
import { creditsOf } from '../../core/model/credits.ts';
import type { AccountId } from '../../core/model/ids.ts';
import { BoundedMap } from '../../lib/bounded-map.ts';
import type { App } from '../server/app.ts';
import { apiKeyOf, originOf, starterOf } from '../server/caller.ts';
import { clientGone } from '../server/connections.ts';
import { answers, success } from '../server/envelope.ts';
import { withOrigin } from './page-files.ts';
import type { RouteDeps } from './route-deps.ts';

/** Accounts that were found without limits are not looked up again for this long. */
const UNLIMITED_MS = 10_000;
const MOST_REMEMBERED = 10_000;

export function addScrapeRoutes(app: App, { jobs, idempotency, store, now }: RouteDeps): void {
  const unlimitedUntil = new BoundedMap<AccountId, number>(MOST_REMEMBERED);

  /** Says what the page has cost, and what a limited account has left. */
  async function tellCost(reply: FastifyReply, account: AccountId, { trace }: ScrapeResult): Promise<void> {
    reply.header('x-scrapifie-credits-cost', trace.credits);
    if ((unlimitedUntil.get(account) ?? 0) > now()) return;
    const credits = await store.getCredits(account);
    if (credits === null) unlimitedUntil.set(account, now() + UNLIMITED_MS);
    else {
      const { allowanceMicrocredits, balanceMicrocredits } = credits;
      reply.header('x-scrapifie-credits-remaining', creditsOf(allowanceMicrocredits + balanceMicrocredits));
    }
  }

  app.route({
    method: 'POST',
    url: '/v1/scrape',
    config: { access: 'scrape', creates: true },
    schema: {
      tags: ['scrape'],
      summary: 'Fetch one page',
      description:
        'Waits for the page and answers 200 with what `formats` asks for, or 202 with a job when `async` is true. A ' +
        'page that arrived but is an error, a block or a challenge, or on which a step failed, is answered 200 too, ' +
        'with what there is and `error` beside it. `X-Scrapifie-Credits-Cost` says what it has cost, and ' +
        '`X-Scrapifie-Credits-Remaining` what the account has left, where it is limited.',
      body: scrapeRequestSchema,
      response: answers({ 200: scrapeSchema, 202: acceptedSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const { accountId: account } = key;
      const credentials = credentialAccessOf(key);
      const { body } = request;
      // The usual case goes straight through: no look at the store but the job's creation and the page's reading.
      if (!body.async && request.held === null) {
        const result = await jobs.scrapeNow(body, account, {
          credentials,
          signal: clientGone(reply),
          startedBy: starterOf(request),
        });
        request.jobId = result.id;
        await tellCost(reply, account, result);
        return success(withOrigin(result, originOf(request)));
      }
      const job = await idempotency.once(request, (id) =>
        jobs.scrape(body, account, { credentials, id, startedBy: starterOf(request) }),
      );
      if (body.async) {
        reply.code(202).header('location', `/v1/jobs/${job.id}`);
        return success(acceptedView(job));
      }
      requireReadable(key, job);
      await jobs.waitFor(job.id, patienceFor(job.options.page), clientGone(reply));
      const result = await jobs.read.scraped(job.id, job.options.page, body.url);
      await tellCost(reply, account, result);
      return success(withOrigin(result, originOf(request)));
    },
  });
}

export function addBatchRoutes(app: App, { jobs, idempotency }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/batch',
    config: { access: 'jobs:write', creates: true },
    schema: {
      tags: ['scrape'],
      summary: 'Fetch up to 10,000 pages in one job',
      description:
        'All URLs are stored before the answer. One invalid URL refuses the request and is named, unless ' +
        '`ignoreInvalidUrls` is true.',
      body: batchRequestSchema,
      response: answers({ 202: acceptedBatchSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const { accountId: account } = key;
      const credentials = credentialAccessOf(key);
      const job = await idempotency.once(request, (id) =>
        jobs.batch(request.body, account, { credentials, id, startedBy: starterOf(request) }),
      );
      reply.code(202).header('location', `/v1/jobs/${job.id}`);
      const invalidUrls = invalidUrlsOf(request.body);
      return success({
        ...acceptedView(job),
        ...(request.body.ignoreInvalidUrls ? { invalidUrls } : {}),
      });
    },
  });
}

export function addCrawlRoutes(app: App, { jobs, idempotency }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/crawl',
    config: { access: 'jobs:write', creates: true },
    schema: {
      tags: ['scrape'],
      summary: 'Crawl sites from seed URLs or sitemaps',
      body: crawlRequestSchema,
      response: answers({ 202: acceptedSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const { accountId: account } = key;
      const credentials = credentialAccessOf(key);
      const job = await idempotency.once(request, (id) =>
        jobs.crawl(request.body, account, { credentials, id, startedBy: starterOf(request) }),
      );
      reply.code(202).header('location', `/v1/jobs/${job.id}`);
      return success(acceptedView(job));
    },
  });
}

export function addMapRoutes(app: App, { jobs, idempotency }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/map',
    config: { access: 'scrape', creates: true },
    schema: {
      tags: ['scrape'],
      summary: 'List the URLs of a site',
      description: 'Reads the sitemaps and the links of the start page; nothing else is fetched.',
      body: mapRequestSchema,
      response: answers({ 200: mapSchema, 202: acceptedSchema }),
    },
    async handler(request, reply) {
      const key = apiKeyOf(request);
      const { accountId: account } = key;
      const credentials = credentialAccessOf(key);
      const { body } = request;
      if (!body.async && request.held === null) {
        const mapped = await jobs.mapNow(body, account, {
          credentials,
          signal: clientGone(reply),
          startedBy: starterOf(request),
        });
        return success({ ...mapped, links: jobLinks(mapped.id) });
      }
      const job = await idempotency.once(request, (id) =>
        jobs.map(body, account, { credentials, id, startedBy: starterOf(request) }),
      );
      if (body.async) {
        reply.code(202).header('location', `/v1/jobs/${job.id}`);
        return success(acceptedView(job));
      }
      await jobs.waitFor(job.id, body.timeoutMs, clientGone(reply));
      const mapped = await jobs.read.mapped(job.id, body);
      return success({ ...mapped, links: jobLinks(mapped.id) });
    },
  });
}
