import type { Answer, Family, SiteRequest } from './exchange.ts';
import { html, redirect } from './exchange.ts';
import { documentOf, link } from './layout.ts';
import { again } from './pages/again.ts';
import { big } from './pages/big.ts';
import { charsets } from './pages/charsets.ts';
import { answerPrivate, content } from './pages/content.ts';
import { encodings } from './pages/encodings.ts';
import { homePage } from './pages/home.ts';
import { hostile } from './pages/hostile.ts';
import { javascript } from './pages/javascript.ts';
import { links } from './pages/links.ts';
import { markup } from './pages/markup.ts';
import { net } from './pages/net.ts';
import { protocol } from './pages/protocol.ts';
import { redirects } from './pages/redirects.ts';
import { answerRobots } from './pages/robots.ts';
import { shop } from './pages/shop.ts';
import { sitemaps } from './pages/sitemaps.ts';
import { slow } from './pages/slow.ts';
import { traps } from './pages/traps.ts';

/** Everything there is, in the order the front page shows it. */
export const FAMILIES: readonly Family[] = [
  big,
  net,
  shop,
  links,
  content,
  javascript,
  sitemaps,
  charsets,
  markup,
  redirects,
  encodings,
  slow,
  protocol,
  again,
  hostile,
  traps,
];

const byPrefix = new Map(FAMILIES.map((family) => [family.prefix, family]));

const missing = (path: string): Answer =>
  html(documentOf({ title: 'Not found', body: `<p>There is no ${link(path)}.</p>` }), 404);

export function answerTo(request: SiteRequest): Answer | Promise<Answer> {
  const { path } = request;
  const second = path.indexOf('/', 1);
  const family = second > 0 ? byPrefix.get(path.slice(0, second + 1)) : undefined;
  if (family !== undefined) {
    const answer = family.answer(request);
    return answer instanceof Promise
      ? answer.then((made) => made ?? missing(path))
      : (answer ?? missing(path));
  }
  if (path === '/')
    return request.site === 'shop' ? redirect('/shop/', 301) : homePage(FAMILIES, request.port);
  if (byPrefix.has(`${path}/`)) return redirect(`${path}/`, 301);
  if (path.startsWith('/private/') || path.startsWith('/late/')) return answerPrivate(request);
  return answerRobots(request) ?? missing(path);
}
