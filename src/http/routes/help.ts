import type { FastifyReply, FastifyRequest } from 'fastify';
import type { OpenApiDocument } from '../help/api-reference.ts';
import type { App } from '../server/app.ts';
import type { RouteDeps } from './route-deps.ts';

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
