import swagger from '@fastify/swagger';
import reference from '@scalar/fastify-api-reference';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { type Access, accessNames } from '../../capabilities/accounts/scopes.ts';
import type { OpenApiDocument } from '../help/api-reference.ts';
import type { App } from '../server/app.ts';
import { type ApiDocument, nameParts } from './document-parts.ts';
import { operationIdOf } from './operation-ids.ts';
import type { RouteDeps } from './route-deps.ts';

/** Collects every route added afterwards. */
export async function collectDocs(app: App, version: string): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Scrapifie',
        version,
        license: { name: 'MIT', identifier: 'MIT' },
        description:
          'Self-hosted web scraping. Every answer is `{ success, data }` or `{ success, error }` and carries ' +
          '`X-Request-ID`. Lists have `items` and `nextCursor`. Times are ISO 8601 in UTC. POSTs that create ' +
          'something take an `Idempotency-Key`. Answers 429 and 503 that may be different later carry `Retry-After`. While ' +
          'the database is away, lists and jobs asked for before are answered as they were then, with `Age`, ' +
          '`Warning` and `X-Scrapifie-Stale: true`.',
      },
      tags: [
        { name: 'scrape', description: 'Start work' },
        { name: 'jobs', description: 'Follow it and fetch what it brought' },
        { name: 'snapshots', description: 'What pages said earlier, and what changed' },
        { name: 'query', description: 'Ask about what is stored, and search it' },
        { name: 'extract', description: 'Read pages that are stored, without a request' },
        { name: 'exports', description: 'Take jobs away as files' },
        { name: 'sessions', description: 'Come back as the same visitor, and log in' },
        { name: 'proxies', description: 'Which ways out there are, and how they do' },
        { name: 'domains', description: 'How hosts are treated' },
        { name: 'account', description: 'Accounts, keys, limits and usage' },
        { name: 'schedules', description: 'Jobs that run again and again' },
        { name: 'monitors', description: 'Pages, sites and sitemaps that are watched for changes' },
        { name: 'webhooks', description: 'Receivers of events, and the deliveries to them' },
        { name: 'events', description: 'What happens, as it happens' },
        { name: 'operations', description: 'Health, metrics and the installation' },
      ],
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer', description: 'An API key.' },
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          serviceKey: { type: 'apiKey', in: 'header', name: 'X-Service-Key' },
        },
      },
      servers: [{ url: '/' }],
      security: [{ bearer: [] }, { apiKey: [] }, { serviceKey: [] }],
    },
    transform: withOperationId,
    transformObject: (document) => nameParts(jsonSchemaTransformObject(document) as ApiDocument),
  });
}

/** The header of operations that create something. */
const WITH_KEY = {
  headers: {
    type: 'object',
    properties: {
      'Idempotency-Key': {
        type: 'string',
        minLength: 1,
        maxLength: 255,
        pattern: '^[!-~]+$',
        description:
          'Makes it safe to send the request again: for 24 hours the same key with the same request gets the same ' +
          'answer, byte for byte, and `Idempotency-Replayed: true`; with another request, 409. It counts for one API key: ' +
          'that of another one is independent.',
      },
    },
  },
};

function withOperationId(input: Parameters<typeof jsonSchemaTransform>[0]) {
  const { schema, url } = jsonSchemaTransform(input);
  const [method = 'GET'] = [input.route.method].flat();
  const access = input.route.config?.access ?? 'open';
  const security = access === 'open' ? [] : [{ bearer: [] }, { apiKey: [] }, { serviceKey: [] }];
  const described = [schema.description ?? `${schema.summary}.`, needs(access)].filter((part) => part !== '');
  return {
    url,
    schema: {
      ...schema,
      ...withExamples(schema.body, input.schema?.body),
      description: described.join(' '),
      operationId: operationIdOf(method, input.url),
      security,
      ...(input.route.config?.creates === true ? WITH_KEY : {}),
      'x-access': accessNames(access),
    },
  };
}

/** zod leaves the examples of a schema out where a part of the schema transforms its value. */
function withExamples(body: unknown, source: unknown): { readonly body?: object } {
  const examples = source instanceof z.ZodType ? source.meta()?.examples : undefined;
  if (examples === undefined || typeof body !== 'object' || body === null) return {};
  return { body: { ...body, examples } };
}

/** Which keys may call an operation: OpenAPI has a place for scopes with OAuth alone. */
function needs(access: Access): string {
  if (access === 'open' || access === 'key') return '';
  if (access === 'operator')
    return 'For the operator: a key with the scope `admin` of the account "default".';
  if (access === 'installation' || access === 'metrics') {
    return 'Needs a key with the scope `jobs:read` of the account "default".';
  }
  return `Needs a key with the scope ${accessNames(access)
    .map((name) => `\`${name}\``)
    .join(' or ')}.`;
}

/** The document and a page to read and try it; nothing on that page comes from elsewhere. */
export async function addDocsRoutes(app: App): Promise<void> {
  let document: string | null = null;
  app.route({
    method: 'GET',
    url: '/openapi.json',
    config: { access: 'open' },
    schema: { hide: true },
    async handler(_request, reply) {
      document ??= JSON.stringify(app.swagger());
      return reply.type('application/json; charset=utf-8').send(document);
    },
  });
  await app.register(reference, {
    routePrefix: '/docs',
    configuration: {
      url: '/openapi.json',
      pageTitle: 'Scrapifie API',
      withDefaultFonts: false,
      telemetry: false,
      hideClientButton: true,
      // What its maker's cloud would offer.
      showDeveloperTools: 'never',
      agent: { disabled: true },
      mcp: { disabled: true },
    },
  });
}

const YEAR_SECONDS = 31_536_000;

/** The documentation, as pages for people. Its parts are loaded and built with the first request. */
export function addHelpRoutes(app: App, { version }: RouteDeps): void {
  let site: Promise<import('../help/help-site.ts').HelpSite> | null = null;
  const open = async () => {
    const { createHelpSite, PROJECT_ROOT } = await import('../help/help-site.ts');
    return createHelpSite({
      root: PROJECT_ROOT,
      version,
      document: () => app.swagger() as unknown as OpenApiDocument,
    });
  };

  async function answer(request: FastifyRequest, reply: FastifyReply, path: string) {
    site ??= open();
    const help = await site;
    const found = await help.file(path);
    if (found === null) reply.code(404);
    const file = found ?? (await help.notFound());
    const isVersioned = file.version !== null && (request.query as { v?: string }).v === file.version;
    reply
      .header('cache-control', isVersioned ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache')
      .header('etag', file.etag)
      .header('vary', 'accept-encoding');
    if (found !== null && request.headers['if-none-match'] === file.etag) return reply.code(304).send();
    reply.type(file.contentType);
    const takesGzip = /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(
      request.headers['accept-encoding'] ?? '',
    );
    if (!takesGzip) return reply.send(await file.plain());
    return reply.header('content-encoding', 'gzip').send(file.gzipped);
  }

  const route = { config: { access: 'open' as const }, schema: { hide: true } };
  app.get('/help', route, (request, reply) => answer(request, reply, ''));
  // Browsers ask for it on pages without an icon of their own, such as answers of the API.
  app.get('/favicon.ico', route, (request, reply) => answer(request, reply, 'assets/icon.svg'));
  app.get('/help/*', route, (request, reply) => {
    const path = (request.params as { '*': string })['*'].replace(/\/$/, '');
    return answer(request, reply, path);
  });
}
