import cors from '@fastify/cors';
import type { App } from './app.ts';

/** Paths that need a key; the others serve people and operators. */
export const isOfApi = (path: string): boolean => /^(?:\/firecrawl)?\/v[12]\//.test(path);

/** The page of the docs runs its own scripts and styles and talks to this server only. */
const DOCS_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'", "'unsafe-inline'"],
  styleSrc: ["'self'", "'unsafe-inline'"],
  imgSrc: ["'self'", 'data:', 'blob:'],
  fontSrc: ["'self'", 'data:'],
  connectSrc: ["'self'"],
  workerSrc: ["'self'", 'blob:'],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
};

/** The documentation has scripts, styles and a search of its own, as files; nothing inline and nothing from elsewhere. */
const HELP_POLICY = {
  defaultSrc: ["'none'"],
  scriptSrc: ["'self'"],
  styleSrc: ["'self'"],
  imgSrc: ["'self'"],
  connectSrc: ["'self'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
};

/** The pages for site owners have forms and a style, and no script. */
const BOT_POLICY = {
  defaultSrc: ["'none'"],
  styleSrc: ["'self'"],
  formAction: ["'self'"],
  frameAncestors: ["'none'"],
  baseUri: ["'none'"],
};

/** Answers for programs: a browser that shows one loads nothing for it. */
const API_POLICY = { defaultSrc: ["'none'"], frameAncestors: ["'none'"] };

/** What every answer tells browsers. Only the reverse proxy that terminates TLS knows whether there is TLS. */
const ALWAYS = {
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-dns-prefetch-control': 'off',
  'x-download-options': 'noopen',
  'x-frame-options': 'SAMEORIGIN',
  'x-permitted-cross-domain-policies': 'none',
  'x-xss-protection': '0',
};

const headersWith = (
  policy: Readonly<Record<string, readonly string[]>>,
): Readonly<Record<string, string>> => ({
  'content-security-policy': Object.entries(policy)
    .map(([name, sources]) =>
      [name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`), ...sources].join(' '),
    )
    .join(';'),
  ...ALWAYS,
});

const FOR_PROGRAMS = headersWith(API_POLICY);
/** What pages for people may do in a browser, by the paths of their routes. */
const FOR_PEOPLE = [
  [/^\/docs/, headersWith(DOCS_POLICY)],
  [/^\/bot\b/, headersWith(BOT_POLICY)],
  [/^\/help\b/, headersWith(HELP_POLICY)],
] as const;

/** What browsers may do with answers: the content security policy, other headers, and which origins may call the API. */
export async function secure(app: App, corsOrigins: string): Promise<void> {
  // What keys may see is not for caches on the way; routes that want something else have said so by then.
  app.addHook('onSend', async (request, reply) => {
    if (isOfApi(request.url) && !reply.hasHeader('cache-control')) {
      reply.header('cache-control', 'no-store');
    }
  });
  const byRoute = new Map<string, Readonly<Record<string, string>>>();
  app.addHook('onRoute', ({ url }) => {
    const headers = FOR_PEOPLE.find(([path]) => path.test(url))?.[1];
    if (headers !== undefined) byRoute.set(url, headers);
  });
  // The headers are the same for every request of a route: they are put together once, which a flood of requests feels.
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(byRoute.get(request.routeOptions.url ?? '') ?? FOR_PROGRAMS);
    done();
  });
  const origins = corsOrigins
    .split(',')
    .map((origin) => origin.trim())
    .filter((origin) => origin !== '');
  if (origins.length === 0) return;
  await app.register(cors, {
    // The cookie of the dashboard is for the dashboard of this server alone.
    credentials: false,
    origin: origins.includes('*') ? '*' : origins,
    methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
    allowedHeaders: [
      'Authorization',
      'Content-Type',
      'Idempotency-Key',
      'X-API-Key',
      'X-Request-ID',
      'X-Service-Key',
    ],
    exposedHeaders: [
      'Age',
      'Idempotency-Replayed',
      'Location',
      'RateLimit-Limit',
      'RateLimit-Remaining',
      'RateLimit-Reset',
      'Retry-After',
      'Warning',
      'X-Request-ID',
      'X-Scrapifie-Stale',
    ],
    maxAge: 600,
  });
}
