import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

/** Sent by the dashboard with each request that changes something: a form of another site cannot send it. */
const OWN_HEADER = 'x-scrapifie-dashboard';
const SAFE_METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS']);
const SECRET = /^[\w-]{43}$/;

/**
 * Over TLS a name that browsers let no other host set. Without TLS the port is in the name: browsers send a cookie to
 * every port of a host, and two servers on one machine would end each other's sign-ins.
 */
function cookieName(request: FastifyRequest): string {
  if (request.protocol === 'https') return '__Host-scrapifie';
  return `scrapifie-${portOf(request.host)}`;
}

const portOf = (host: string): string => /:(\d+)$/.exec(host)?.[1] ?? '80';

/** The secret of a sign-in in the cookies of a request; null when there is none. */
export function signInSecretOf(request: FastifyRequest): string | null {
  const name = cookieName(request);
  for (const each of (request.headers.cookie ?? '').split(';')) {
    const at = each.indexOf('=');
    if (at < 0 || each.slice(0, at).trim() !== name) continue;
    const secret = each.slice(at + 1).trim();
    return SECRET.test(secret) ? secret : null;
  }
  return null;
}

/** Null takes the cookie away. */
export function setSignInCookie(
  request: FastifyRequest,
  reply: FastifyReply,
  signIn: { readonly secret: string; readonly lastsMs: number } | null,
): void {
  const seconds = signIn === null ? 0 : Math.floor(signIn.lastsMs / 1_000);
  const parts = [
    `${cookieName(request)}=${signIn?.secret ?? ''}`,
    'Path=/',
    `Max-Age=${seconds}`,
    'HttpOnly',
    'SameSite=Strict',
    ...(request.protocol === 'https' ? ['Secure'] : []),
  ];
  reply.header('set-cookie', parts.join('; '));
}

/** Throws CROSS_SITE for a request with a cookie that changes something and is not from the dashboard of this server. */
export function requireDashboard(request: FastifyRequest): void {
  if (SAFE_METHODS.has(request.method)) return;
  if (request.headers[OWN_HEADER] !== '1') {
    throw new ScrapifieError(
      'CROSS_SITE',
      'A request with the cookie of the dashboard that changes something needs the header `X-Scrapifie-Dashboard: 1`. Programs send an API key.',
    );
  }
  requireSameOrigin(request);
}

/**
 * Whether the name by which the browser reached this server cannot be one that a stranger's name server has led here: an
 * IP address, `localhost`, or the name that the operator gave.
 */
export function isOwnName(host: string, publicUrl: string | undefined): boolean {
  const name = host
    .replace(/:\d+$/, '')
    .replace(/^\[|\]$/g, '')
    .toLowerCase();
  if (isIP(name) !== 0 || name === 'localhost' || name.endsWith('.localhost')) return true;
  return publicUrl !== undefined && new URL(publicUrl).hostname.toLowerCase() === name;
}

/** Throws CROSS_SITE when the browser says that a page of another origin has made the request. */
export function requireSameOrigin(request: FastifyRequest): void {
  if (!isElsewhere(request)) return;
  throw new ScrapifieError(
    'CROSS_SITE',
    'The request comes from a page of another origin. A reverse proxy must pass the header Host on, or be one of SCRAPIFIE_TRUSTED_PROXIES and send X-Forwarded-Host.',
  );
}

/**
 * Throws CROSS_SITE for a stream or a WebSocket that a page of another origin opens, unless `corsOrigins` names it.
 * Browsers send no preflight before they open one, and a page that cannot read the stream would hold a connection and
 * see its frames go by in time. Programs send no Origin, and an address that a person has typed is `none`.
 */
export function requireStreamOrigin(request: FastifyRequest, corsOrigins: string): void {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (origin === undefined && site === 'none') return;
  if (!isElsewhere(request)) return;
  const named = corsOrigins.split(',').map((each) => each.trim());
  if (named.includes('*') || (origin !== undefined && named.includes(origin))) return;
  throw new ScrapifieError(
    'CROSS_SITE',
    'A page of another origin may not open streams here; SCRAPIFIE_CORS_ORIGINS names those that may. A reverse proxy must pass the header Host on, or be one of SCRAPIFIE_TRUSTED_PROXIES and send X-Forwarded-Host.',
  );
}

function isElsewhere(request: FastifyRequest): boolean {
  const { origin, 'sec-fetch-site': site } = request.headers;
  if (site !== undefined && site !== 'same-origin') return true;
  return origin !== undefined && !isOriginOf(origin, request);
}

const DEFAULT_PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' };

/** Whether the host of the request is that of this origin, port included: `http://a` is port 80 and `https://a` port 443. */
function isOriginOf(origin: string, { host, protocol }: FastifyRequest): boolean {
  const page = URL.parse(origin);
  if (page === null || page.hostname !== URL.parse(`http://${host}`)?.hostname) return false;
  const port = page.port || DEFAULT_PORTS[page.protocol];
  const asked = /:(\d+)$/.exec(host)?.[1];
  if (asked !== undefined) return port === asked;
  // A proxy that takes TLS away and is not trusted passes on the name, and not that it was asked by TLS.
  return port === '443' || (port === '80' && protocol === 'http');
}
