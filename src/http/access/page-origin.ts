import type { FastifyRequest } from 'fastify';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';

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
