import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { namesTag } from '../server/byte-ranges.ts';
import type { DashboardFile, DashboardFiles } from './dashboard-files.ts';

/**
 * Sends the pages and files of the dashboard. The methods say whether they have sent an answer. They do not return the
 * reply, because a reply is a thenable: a caller that awaits it gets undefined, whatever was sent.
 */
export interface DashboardPages {
  /** The start page, which shows what the path of the address names. */
  page(request: FastifyRequest, reply: FastifyReply): Promise<void>;
  /** False, with nothing sent, when there is no such file. */
  file(path: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
  /**
   * For a path of no route: a file of the dashboard, or its start page where a browser asks for a page. False, with
   * nothing sent, for every other request.
   */
  unrouted(path: string, request: FastifyRequest, reply: FastifyReply): Promise<boolean>;
}

/** Stands in the start page for a number that each answer has anew. */
const NONCE = '__CSP_NONCE__';
const NONCE_BYTES = 18;
const YEAR_SECONDS = 31_536_000;
const HTML = 'text/html; charset=utf-8';

const NOT_BUILT = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Scrapifie: the dashboard is not built</title>
</head>
<body>
<h1>The dashboard is not built</h1>
<p>The server works; only the files of its dashboard are missing. In the folder of the sources, build them with</p>
<pre>make dashboard</pre>
<p>and load this page again. The packages and images of Scrapifie have them built.</p>
<ul>
<li><a href="/help">Documentation</a></li>
<li><a href="/docs">API reference</a></li>
</ul>
</body>
</html>
`;

export function createDashboardPages(files: DashboardFiles): DashboardPages {
  async function page(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const built = await files.built();
    const nonce = randomBytes(NONCE_BYTES).toString('base64url');
    reply
      .code(200)
      .type(HTML)
      .header('cache-control', 'no-cache')
      .header('content-security-policy', policyWith(nonce))
      .header('x-frame-options', 'DENY');
    reply.send(built?.index.replaceAll(NONCE, nonce) ?? NOT_BUILT);
  }

  async function file(path: string, request: FastifyRequest, reply: FastifyReply) {
    const found = (await files.built())?.files.get(path);
    if (found === undefined) return false;
    await sendFile(found, request, reply);
    return true;
  }

  return {
    page,
    file,
    async unrouted(path, request, reply) {
      if (request.method !== 'GET' && request.method !== 'HEAD') return false;
      if (await file(path, request, reply)) return true;
      if (!/\btext\/html\b/.test(request.headers.accept ?? '')) return false;
      await page(request, reply);
      return true;
    },
  };
}

async function sendFile(
  { contentType, etag, isImmutable, encoded }: DashboardFile,
  { headers }: FastifyRequest,
  reply: FastifyReply,
): Promise<void> {
  reply
    .code(200)
    .header('etag', etag)
    .header('vary', 'accept-encoding')
    .header('cache-control', isImmutable ? `public, max-age=${YEAR_SECONDS}, immutable` : 'no-cache');
  if (namesTag(headers['if-none-match'], etag)) {
    reply.code(304).send();
    return;
  }
  const { bytes, encoding } = await encoded(headers['accept-encoding']);
  if (encoding !== null) reply.header('content-encoding', encoding);
  reply.type(contentType).send(bytes);
}

/**
 * Scripts and connections only of this server, and nothing inline but the styles that have the nonce. Frames show
 * previews of stored pages, whose own policy takes everything away from them.
 */
const policyWith = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "font-src 'self'",
    "connect-src 'self'",
    "frame-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "object-src 'none'",
  ].join('; ');
