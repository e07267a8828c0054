import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { parseRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import {
  createDomainProof,
  PROOF_PATH,
  proofRecord,
  proofText,
} from '../../capabilities/owners/domain-proof.ts';
import {
  createOwnerRequests,
  type OwnerInput,
  type OwnerRequests,
} from '../../capabilities/owners/owner-requests.ts';
import {
  listAnswer,
  listSchema,
  pagingFields,
  selfLinks,
  selfSchema,
  unwrapCursor,
} from '../../capabilities/views/list.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { OwnerRequest } from '../../core/ports/site-owner-store.ts';
import { hostOf } from '../../crawl/frontier/canonical.ts';
import { PRODUCT_TOKEN, siteOwnerContact, userAgentFor } from '../../fetch/user-agent.ts';
import { isoTime } from '../../lib/iso-time.ts';
import type { App } from '../server/app.ts';
import { answers, success } from '../server/envelope.ts';
import { BOT_STYLE, botPage, refuseWithPages, requestPage, sendPage } from '../views/bot-page.ts';
import type { RouteDeps } from './route-deps.ts';

/** Requests and checks that one address may send in a minute: they need no key. */
const CREATES_PER_MINUTE = 6;
const CHECKS_PER_MINUTE = 12;

const fields = {
  host: z
    .string()
    .trim()
    .min(1)
    .max(300)
    .describe('Host name of the site, with the port where it has its own.'),
  want: z
    .enum(['stop', 'slower'])
    .describe('stop: do not crawl it at all. slower: leave more time between requests.'),
  secondsBetweenRequests: z.coerce
    .number({ error: 'must be a number of seconds' })
    .int()
    .min(1)
    .max(3_600)
    .default(10)
    .describe('With `slower`: the least time between two requests to the host.'),
  contact: z.string().trim().max(320).nullable().default(null).describe('How the operator can reach you.'),
  message: z.string().trim().max(2_000).nullable().default(null).describe('For the operator.'),
};
const bodySchema = z.strictObject(fields).meta({ examples: [{ host: 'www.example.com', want: 'stop' }] });

const time = z.iso.datetime();
const commonFields = {
  host: z.string(),
  want: z.enum(['stop', 'slower']),
  secondsBetweenRequests: z.number().int().nullable(),
  state: z.enum(['unproved', 'in-force']),
  createdAt: time,
  expiresAt: time.describe('A request that is not proved by then is forgotten.'),
  provedAt: time.nullable(),
  provedBy: z.enum(['file', 'dns']).nullable(),
};
const requestSchema = z
  .object({
    id: z.string().describe('Known to you only.'),
    ...commonFields,
    proof: z
      .object({
        file: z.object({ url: z.string(), line: z.string() }),
        dns: z.object({ name: z.string(), type: z.literal('TXT'), text: z.string() }).nullable(),
      })
      .meta({ id: 'OwnerProof' })
      .describe('Publish one of the two, then call `check`.'),
    links: selfSchema,
  })
  .meta({ id: 'OwnerRequest' });
const checkedSchema = z
  .object({
    ...requestSchema.shape,
    seen: z.array(z.string()).describe('What was found in place of the proof.'),
  })
  .meta({ id: 'CheckedOwnerRequest' });
const listedSchema = z
  .object({ ...commonFields, contact: z.string().nullable(), message: z.string().nullable() })
  .meta({ id: 'ListedOwnerRequest' });

function commonView({ host, demand, createdAt, expiresAt, proved }: OwnerRequest) {
  return {
    host,
    want: demand.kind,
    secondsBetweenRequests: demand.kind === 'slower' ? demand.secondsBetweenRequests : null,
    state: proved === null ? ('unproved' as const) : ('in-force' as const),
    createdAt: isoTime(createdAt),
    expiresAt: isoTime(expiresAt),
    provedAt: proved === null ? null : isoTime(proved.at),
    provedBy: proved?.by ?? null,
  };
}

function requestView(request: OwnerRequest) {
  const line = proofText(request.token);
  const record = proofRecord(request.host);
  return {
    id: request.id,
    ...commonView(request),
    proof: {
      file: { url: `https://${request.host}${PROOF_PATH}`, line },
      dns: record === null ? null : { name: record, type: 'TXT' as const, text: line },
    },
    links: selfLinks('owner-requests', request.id),
  };
}

function inputOf(body: z.output<typeof bodySchema>): OwnerInput {
  const { want, secondsBetweenRequests, contact, message } = body;
  return {
    host: hostOf(body.host),
    demand: want === 'stop' ? { kind: 'stop' } : { kind: 'slower', secondsBetweenRequests },
    contact: contact === '' ? null : contact,
    message: message === '' ? null : message,
  };
}

const idParams = z.strictObject({ id: z.string().max(64) });

/** The public page for site owners, and the same for programs. None of it needs a key. */
export function addBotRoutes(app: App, deps: RouteDeps): void {
  const { store, bus, limits, settings, logger, version, now } = deps;
  const userAgent = userAgentFor(version, siteOwnerContact(settings));
  const proof = createDomainProof({ allowPrivate: settings.allowPrivate, userAgent });
  app.addHook('onClose', () => proof.close());
  const owners = createOwnerRequests({ store, bus, proof, logger });

  const countIn = (kind: 'create' | 'check', perMinute: number) => async (request: FastifyRequest) => {
    const { isAllowed, resetMs } = await limits.take(`owner-${kind}:${request.ip}`, perMinute, now());
    if (isAllowed) return;
    throw new ScrapifieError('RATE_LIMITED', `An address may do this ${perMinute} times a minute.`, {
      retryAfterMs: resetMs,
    });
  };
  // Before the body is read: what is too much costs nothing else.
  const countCreate = countIn('create', CREATES_PER_MINUTE);
  const countCheck = countIn('check', CHECKS_PER_MINUTE);

  addPages(app, deps, owners, userAgent, { countCreate, countCheck });

  app.route({
    method: 'POST',
    url: '/v1/owner-requests',
    config: { access: 'open' },
    schema: {
      tags: ['domains'],
      summary: 'As the owner of a site, ask the crawler to stop or to slow down',
      description:
        'Needs no key. The answer says what to publish on the site to show that it is yours; call `check` then.',
      body: bodySchema,
      response: answers({ 201: requestSchema }),
    },
    onRequest: countCreate,
    async handler(request, reply) {
      const created = await owners.create(inputOf(request.body));
      reply.code(201);
      return success(requestView(created));
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/owner-requests/:id',
    config: { access: 'open' },
    schema: {
      tags: ['domains'],
      summary: 'A site owner’s request, by the id that its creation answered with',
      params: idParams,
      response: answers({ 200: requestSchema }),
    },
    handler: async (request) => success(requestView(await owners.get(request.params.id))),
  });

  app.route({
    method: 'POST',
    url: '/v1/owner-requests/:id/check',
    config: { access: 'open' },
    schema: {
      tags: ['domains'],
      summary: 'Look for the proof; with it, the request takes effect at once for every account',
      params: idParams,
      response: answers({ 200: checkedSchema }),
    },
    onRequest: countCheck,
    async handler(request) {
      const checked = await owners.check(request.params.id);
      return success({ ...requestView(checked.request), seen: checked.seen });
    },
  });

  app.route({
    method: 'GET',
    url: '/v1/owner-requests',
    config: { access: 'operator' },
    schema: {
      tags: ['domains'],
      summary: 'Requests of site owners, newest first',
      querystring: z.strictObject(pagingFields),
      response: answers({ 200: listSchema(listedSchema) }),
    },
    async handler(request) {
      const cursor = unwrapCursor('owner-requests', request.query.cursor);
      const page = await store.listOwnerRequests({ cursor, limit: request.query.limit });
      return success(
        listAnswer('owner-requests', page, (each) => ({
          ...commonView(each),
          contact: each.contact,
          message: each.message,
        })),
      );
    },
  });
}

type CountIn = (request: FastifyRequest) => Promise<void>;

const fieldsOf = (form: string) => Object.fromEntries(new URLSearchParams(form));

/** HTML without scripts: a form, the page of a request, and its check. */
function addPages(
  app: App,
  { settings }: RouteDeps,
  owners: OwnerRequests,
  userAgent: string,
  { countCreate, countCheck }: { countCreate: CountIn; countCheck: CountIn },
): void {
  const about = botPage({
    contact: settings.contact ?? null,
    purpose: settings.botPurpose ?? null,
    userAgent,
    productToken: PRODUCT_TOKEN,
  });
  const route = { config: { access: 'open' as const }, schema: { hide: true } };

  app.register(async (scope) => {
    scope.addContentTypeParser('application/x-www-form-urlencoded', (request, _payload, done) =>
      scope.readBody(request, (error, body) =>
        done(error, error === null ? fieldsOf(body.toString()) : undefined),
      ),
    );
    refuseWithPages(scope as App);
    scope.get('/bot', route, async (_request, reply) =>
      reply.type('text/html; charset=utf-8').header('cache-control', 'public, max-age=300').send(about),
    );
    scope.get('/bot/style.css', route, async (_request, reply) =>
      reply.type('text/css; charset=utf-8').header('cache-control', 'public, max-age=3600').send(BOT_STYLE),
    );
    scope.post('/bot', { ...route, onRequest: countCreate }, async (request, reply) => {
      const created = await owners.create(inputOf(parseRequest(bodySchema, request.body ?? {})));
      return reply.redirect(`/bot/requests/${created.id}`, 303);
    });
    scope.get('/bot/requests/:id', route, async (request, reply) =>
      sendPage(reply, requestPage(await owners.get((request.params as { id: string }).id), null)),
    );
    scope.post('/bot/requests/:id/check', { ...route, onRequest: countCheck }, async (request, reply) => {
      const checked = await owners.check((request.params as { id: string }).id);
      return sendPage(reply, requestPage(checked.request, checked.seen));
    });
  });
}
