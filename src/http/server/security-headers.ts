import cors from '@fastify/cors';
import helmet from '@fastify/helmet';
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

/** What pages for people may do in a browser, by their paths. */
const POLICIES = [
  [/^\/docs/, DOCS_POLICY],
  [/^\/bot\b/, BOT_POLICY],
  [/^\/help\b/, HELP_POLICY],
] as const;

/** What browsers may do with answers: the content security policy, other headers, and which origins may call the API. */
export async function secure(app: App, corsOrigins: string): Promise<void> {
  // What keys may see is not for caches on the way; routes that want something else have said so by then.
  app.addHook('onSend', async (request, reply) => {
    if (isOfApi(request.url) && !reply.hasHeader('cache-control')) {
      reply.header('cache-control', 'no-store');
    }
  });
  app.addHook('onRoute', (route) => {
    const [, directives] = POLICIES.find(([path]) => path.test(route.url)) ?? [];
    if (directives === undefined) return;
    route.helmet = { contentSecurityPolicy: { useDefaults: false, directives } };
  });
  await app.register(helmet, {
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
    },
    // Only the reverse proxy that terminates TLS knows whether there is TLS.
    strictTransportSecurity: false,
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
