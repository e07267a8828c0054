import { createHash, randomBytes } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { namesTag } from '../server/large-answers.ts';

/** A built file of the dashboard. */
export interface DashboardFile {
  readonly contentType: string;
  readonly etag: string;
  /** Its name has a hash of its content, so that it may be cached for ever. */
  readonly isImmutable: boolean;
  /** The bytes, in the best encoding that the header `Accept-Encoding` of the request takes. */
  encoded(accepted: string | undefined): Promise<EncodedFile>;
}

export interface EncodedFile {
  readonly bytes: Buffer;
  /** Null when the file is sent as it is. */
  readonly encoding: 'br' | 'gzip' | null;
}

/** The dashboard as it was built last. */
export interface BuiltDashboard {
  readonly index: string;
  /** By their paths, such as `/assets/index-4f2a.js`; the start page is not among them. */
  readonly files: ReadonlyMap<string, DashboardFile>;
}

export interface DashboardFiles {
  /** Returns null when the dashboard is not built. A new build is noticed. */
  built(): Promise<BuiltDashboard | null>;
  /** Whether there is a build, which is not read for that. */
  isBuilt(): Promise<boolean>;
}

/** Where the build of this project puts the dashboard: the same above the sources and above the build of the server. */
export const DASHBOARD_DIR = fileURLToPath(new URL('../../../dashboard/dist', import.meta.url));

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.gif': 'image/gif',
  '.ico': 'image/x-icon',
  '.jpg': 'image/jpeg',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json; charset=utf-8',
  '.webp': 'image/webp',
  '.woff2': 'font/woff2',
};
const UNKNOWN_TYPE = 'application/octet-stream';
/** The build puts files with a hash in their name here, and nothing else. */
const HASHED = '/assets/';
const INDEX = 'index.html';
/** Smaller files fit into one packet as they are. */
const LEAST_COMPRESSED_BYTES = 1_024;
/** The highest level takes ten times as long, for a few percent. */
const BROTLI_LEVEL = 9;

const [toBrotli, toGzip] = [promisify(brotliCompress), promisify(gzip)];

/** The files are read and kept with the first request, so that the start of the server does not pay for them. */
export function createDashboardFiles(folder: string): DashboardFiles {
  let known: { readonly at: number; readonly built: Promise<BuiltDashboard> } | null = null;
  const look = () => stat(join(folder, INDEX)).catch(() => null);
  return {
    isBuilt: async () => (await look()) !== null,
    async built() {
      const found = await look();
      if (found === null) return null;
      if (known?.at !== found.mtimeMs) {
        const reading = { at: found.mtimeMs, built: readBuilt(folder) };
        known = reading;
        // A read in the middle of a build fails; the next request reads again.
        reading.built.catch(() => {
          if (known === reading) known = null;
        });
      }
      return known.built;
    },
  };
}

async function readBuilt(folder: string): Promise<BuiltDashboard> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = new Map<string, DashboardFile>();
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const file = join(entry.parentPath, entry.name);
    const path = file.slice(folder.replace(/[/\\]+$/, '').length).replaceAll(sep, '/');
    if (path === `/${INDEX}` || path.endsWith('.map') || path.includes('/.')) continue;
    files.set(path, fileOf(path, await readFile(file)));
  }
  return { index: await readFile(join(folder, INDEX), 'utf8'), files };
}

function fileOf(path: string, bytes: Buffer): DashboardFile {
  const contentType = CONTENT_TYPES[extname(path).toLowerCase()] ?? UNKNOWN_TYPE;
  const isText = /^text\/|json|javascript|svg/.test(contentType);
  const isCompressed = isText && bytes.length >= LEAST_COMPRESSED_BYTES;
  let brotli: Promise<Buffer> | null = null;
  let gzipped: Promise<Buffer> | null = null;
  return {
    contentType,
    etag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 27)}"`,
    isImmutable: path.startsWith(HASHED),
    async encoded(accepted = '') {
      if (isCompressed && takes(accepted, 'br')) {
        brotli ??= toBrotli(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL } });
        return { bytes: await brotli, encoding: 'br' };
      }
      if (isCompressed && takes(accepted, 'gzip')) {
        gzipped ??= toGzip(bytes);
        return { bytes: await gzipped, encoding: 'gzip' };
      }
      return { bytes, encoding: null };
    },
  };
}

/** Whether `Accept-Encoding` names the encoding, and not with a weight of zero. */
function takes(accepted: string, encoding: string): boolean {
  return accepted.split(',').some((each) => {
    const [name = '', ...parameters] = each.split(';').map((part) => part.trim().toLowerCase());
    return name === encoding && !parameters.some((parameter) => /^q=0(?:\.0*)?$/.test(parameter));
  });
}

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
