import { requireReadable } from '../../capabilities/accounts/scopes.ts';
import {
  extractRequestSchema,
  readOptionsOf,
  reextractRequestSchema,
} from '../../capabilities/jobs/request/extraction-request.ts';
import { pageSchema } from '../../capabilities/views/page-schemas.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { requireLedger } from '../../core/model/retention.ts';
import type { App } from '../server/app.ts';
import { accountOf, apiKeyOf } from '../server/caller.ts';
import { answers, success } from '../server/envelope.ts';
import { lines, NDJSON, sendNdjson } from '../server/large-answers.ts';
import { jobParams } from './jobs.ts';
import type { RouteDeps } from './route-deps.ts';

/** Reads a page that the caller has. */
export function addExtractRoutes(app: App, { extraction }: RouteDeps): void {
  app.route({
    method: 'POST',
    url: '/v1/extract',
    config: { access: ['scrape', 'read'] },
    schema: {
      tags: ['extract'],
      summary: 'Read a page that you have',
      description:
        'Answers with the same fields as a scrape, without fetching or keeping anything. `statusCode` is null. Rules ' +
        'with a mistake are answered 422 with the place of each.',
      body: extractRequestSchema,
      response: answers({ 200: pageSchema }),
    },
    async handler(request) {
      const { html, url, contentType } = request.body;
      const body = new TextEncoder().encode(html);
      const type = `${contentType.split(';', 1)[0]}; charset=utf-8`;
      const given = { accountId: accountOf(request), url, body, contentType: type };
      const result = await extraction.read(given, readOptionsOf(request.body));
      return success({ ...result, contentType });
    },
  });
}

/** Each has some bodies in memory for as long as its client takes to read. */
const MOST_AT_ONCE = 16;

/** Reads the stored pages of a job once more. */
export function addReextractRoutes(app: App, { jobs, store, blobs, extraction, now }: RouteDeps): void {
  let running = 0;

  async function* counted<T>(items: AsyncIterable<T>): AsyncGenerator<T> {
    running += 1;
    try {
      yield* items;
    } finally {
      running -= 1;
    }
  }

  app.route({
    method: 'POST',
    url: '/v1/jobs/:id/reextract',
    config: { access: 'jobs:read' },
    schema: {
      tags: ['jobs', 'extract'],
      summary: 'Read the stored pages of a job once more',
      description:
        'Runs other rules, types or formats over the pages as they were stored, without a single request. Streams one ' +
        'page per line in the order they were stored; a page that cannot be read has an `error`. Nothing stored changes.',
      params: jobParams,
      body: reextractRequestSchema,
      response: {
        ...answers({}),
        200: {
          description: 'One page per line.',
          content: { [NDJSON]: lines('One page per line, each like those of `results`.') },
        },
      },
    },
    async handler(request, reply) {
      const job = await jobs.get(request.params.id, accountOf(request));
      requireReadable(apiKeyOf(request), job);
      requireLedger(job);
      if (running >= MOST_AT_ONCE) {
        throw new ScrapifieError('QUEUE_FULL', `${MOST_AT_ONCE} jobs are being read again already.`);
      }
      const details = { what: 'reextract', address: request.ip };
      const { id: actor } = apiKeyOf(request);
      await store.audit([{ at: now(), actor, action: 'job.export', target: job.id, details }]);
      const pages = extraction.readAgain(job, readOptionsOf(request.body), { store, blobs });
      return sendNdjson(reply, counted(pages));
    },
  });
}
