import { bodyOf, sendHtml, serving } from './local-server.ts';

/** A site behind a challenge, and what else a page can lead to. */
export interface GuardedSite {
  readonly origin: string;
  /** Method, path and cookies of each request, in order. */
  readonly visits: readonly { readonly method: string; readonly path: string; readonly cookie: string }[];
  /** Bodies that were posted. */
  readonly posts: readonly string[];
}

const page = (title: string, text: string): string =>
  `<!doctype html><html><head><title>${title}</title></head><body><p>${text}</p></body></html>`;

export async function startGuardedSite(elsewhere = ''): Promise<GuardedSite> {
  const visits: { method: string; path: string; cookie: string }[] = [];
  const posts: string[] = [];
  const origin = await serving(async (request, response) => {
    const { method = '', url: path = '/', headers } = request;
    const { cookie = '' } = headers;
    visits.push({ method, path, cookie });
    const body = await bodyOf(request);
    if (method === 'POST') posts.push(body);
    switch (path.split('?')[0]) {
      case '/guarded':
        if (cookie.includes('cf_clearance=yes')) sendHtml(response, page('Inside', 'What was behind: ä€😀'));
        else sendHtml(response, page('Just a moment...', 'Checking'), 403);
        return;
      case '/cdn-cgi/clear':
        response.setHeader('set-cookie', 'cf_clearance=yes; Path=/');
        sendHtml(response, page('Clear', ''));
        return;
      case '/never':
        sendHtml(response, page('Just a moment...', 'For ever'), 403);
        return;
      case '/denied':
        sendHtml(response, page('Access denied | Cloudflare', 'No'), 403);
        return;
      case '/moved':
        response.writeHead(302, { location: '/plain?from=moved' }).end();
        return;
      case '/away':
        response.writeHead(302, { location: elsewhere }).end();
        return;
      case '/login-first':
        if (cookie.includes('member=1')) sendHtml(response, page('Members', 'Hello'));
        else response.writeHead(302, { location: elsewhere }).end();
        return;
      case '/cookies':
        response.setHeader('set-cookie', [
          'seen=1; Path=/',
          ...(cookie.includes('old=1') ? ['old=; Max-Age=0'] : []),
        ]);
        sendHtml(response, page('Cookies', `Cookies: ${cookie}`));
        return;
      case '/large':
        sendHtml(response, page('Large', 'é'.repeat(50_000)));
        return;
      default:
        sendHtml(response, page('Plain', `${method} ${path}`));
    }
  });
  return { origin, visits, posts };
}
