import { z } from 'zod';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import { batchRequestSchema } from '../../../../capabilities/jobs/request/job-request.ts';
import { ScrapifieError } from '../../../../core/errors/scrapifie-error.ts';
import { defined } from '../../../../lib/defined.ts';
import type { App } from '../../../server/app.ts';
import { apiKeyOf } from '../../../server/caller.ts';
import { bodyOf, type FirecrawlDeps, givenBy, jobOf, readFirst, statusParts } from '../firecrawl-deps.ts';
import { webhookField } from '../request/crawl-options.ts';
import {
  bodyFields,
  cacheRequestOf,
  derivedRequestOf,
  pageRequestOf,
  scrapeOptionsField,
  viewOf,
} from '../request/scrape-options.ts';
import { scrapeBodyOfV1 } from '../request/v1.ts';
import { documentsOf, jobWebhookOf, progressOf, shownStatus } from '../view/job-status.ts';

const extractBody = z.strictObject({
  urls: z.array(z.string().min(1).max(8_192)).min(1).max(1_000),
  prompt: z.string().max(10_000).optional(),
  systemPrompt: z.string().max(10_000).optional(),
  schema: z.record(z.string(), z.unknown()).optional(),
  allowExternalLinks: z.boolean().default(false),
  enableWebSearch: z.boolean().default(false),
  includeSubdomains: z.boolean().optional(),
  limit: z.number().int().min(1).optional(),
  showSources: z.boolean().default(false),
  ignoreSitemap: z.boolean().optional(),
  ignoreInvalidURLs: z.boolean().default(true),
  agent: z.unknown().optional(),
  scrapeOptions: scrapeOptionsField.optional(),
  webhook: webhookField,
  ...bodyFields,
});

const unsupported = (option: string, why: string) =>
  new ScrapifieError('UNSUPPORTED_OPTION', `\`${option}\` is not available on this server: ${why}`);

const STATUSES = {
  scraping: 'processing',
  completed: 'completed',
  failed: 'failed',
  cancelled: 'cancelled',
} as const;
const DEPRECATED = 'POST /v2/extract is deprecated; use scrape with the format json.';

/** Fields of one schema out of one or several pages, by the language model of the settings. */
export function addExtractRoutes(app: App, deps: FirecrawlDeps): void {
  const { jobs, idempotency, isV1, settings } = deps;

  const wish = readFirst((request) => {
    const sent = request.body as { scrapeOptions?: unknown } | null | undefined;
    const isOld = isV1 && sent?.scrapeOptions !== undefined;
    const body = bodyOf(
      extractBody,
      isOld ? { ...sent, scrapeOptions: scrapeBodyOfV1(sent.scrapeOptions) } : sent,
    );
    if (body.enableWebSearch || body.allowExternalLinks) {
      throw unsupported('enableWebSearch', 'only the pages that are named are read.');
    }
    if (body.agent !== undefined) throw unsupported('agent', 'agents do not run here.');
    for (const name of ['includeSubdomains', 'ignoreSitemap'] as const) {
      if (body[name] === true) throw unsupported(name, 'only the pages that are named are read.');
    }
    if (body.limit !== undefined && body.limit < body.urls.length) {
      throw unsupported('limit', 'all pages that are named are read.');
    }
    if (body.urls.some((url) => url.endsWith('/*'))) {
      throw unsupported('urls', 'name each page; a crawl with the format json reads a whole site.');
    }
    if (body.schema === undefined) throw unsupported('prompt', 'a `schema` must name the fields.');
    const { prompt, systemPrompt, schema } = body;
    const json = {
      type: 'json' as const,
      schema,
      ...defined({ prompt, systemPrompt }),
    };
    const options = { ...scrapeOptionsField.parse({}), ...body.scrapeOptions, formats: [json] };
    const asked = parseRequest(batchRequestSchema, {
      urls: body.urls,
      ignoreInvalidUrls: body.ignoreInvalidURLs,
      options: { ...pageRequestOf(options), ...cacheRequestOf(options) },
      ...derivedRequestOf(options, body.zeroDataRetention),
    });
    const given = {
      ...givenBy(request),
      shownAs: { ...viewOf(options, body), showsSources: body.showSources },
      ...jobWebhookOf(body.webhook, 'extract', apiKeyOf(request).accountId, settings),
    };
    return { asked, given };
  });

  app.route({
    method: 'POST',
    url: '/extract',
    config: { access: 'jobs:write', creates: true },
    schema: { hide: true },
    preValidation: wish.preValidation,
    async handler(request, reply) {
      const { asked, given } = wish.of(request);
      const { accountId } = apiKeyOf(request);
      const job = await idempotency.once(request, (id) => jobs.batch(asked, accountId, { ...given, id }));
      if (!isV1) reply.headers({ deprecation: 'true', warning: `299 - "${DEPRECATED}"` });
      return { success: true, id: job.id, urlTrace: [], ...(isV1 ? {} : { warnings: [DEPRECATED] }) };
    },
  });

  app.route({
    method: 'GET',
    url: '/extract/:id',
    config: { access: 'jobs:read' },
    schema: { hide: true },
    async handler(request) {
      const job = await jobOf(request, deps, ['batch']);
      // Every extract has this field of its request; another batch has no fields to merge.
      if (job.options.shownAs?.showsSources === undefined) {
        throw new ScrapifieError('NOT_FOUND', `The job ${job.id} is no extract.`);
      }
      const { expiresAt, creditsUsed } = progressOf(job);
      const status = STATUSES[shownStatus(job)];
      const { documents } =
        job.finishedAt === null
          ? { documents: [] }
          : await documentsOf(job, { skip: 0 }, statusParts(request, deps));
      const sources = documents.map(({ metadata }) => String(metadata.sourceURL));
      const hasNone = job.finishedAt !== null && documents.length === 0 && status === 'completed';
      return {
        success: !hasNone,
        status: hasNone ? 'failed' : status,
        data: merged(documents.map(({ json }) => json as Readonly<Record<string, unknown>>)),
        expiresAt,
        creditsUsed,
        ...(job.options.shownAs.showsSources === true ? { sources: { urls: sources } } : {}),
        ...(hasNone ? { error: 'None of the pages could be read.' } : {}),
      };
    },
  });
}

/** One object of all pages: lists are joined, of other fields the first value counts. */
function merged(found: readonly Readonly<Record<string, unknown>>[]): Record<string, unknown> {
  const whole: Record<string, unknown> = {};
  for (const fields of found) {
    for (const [name, value] of Object.entries(fields)) {
      const known = whole[name];
      if (known === undefined || known === null) whole[name] = value;
      else if (Array.isArray(known) && Array.isArray(value)) whole[name] = [...known, ...value];
    }
  }
  return whole;
}
