import { type Answer, html, numberIn, type SiteRequest } from '../../exchange.ts';
import { documentOf, linkList } from '../../layout.ts';
import { paragraph, titleOf } from '../../prose.ts';
import { randomFrom, seedOf } from '../../random.ts';
import { hasCookie, PREFIX } from './shell.ts';

/**
 * Pages behind a challenge such as Cloudflare's: a script has to find a number, which takes it a moment; it keeps the
 * number in a cookie and asks again. Two forms, the present one (403) and the one of old (503).
 */
const COOKIE = 'cf_clearance';
const PUZZLE = 5_000;
const WORK_MS = 400;
const LAST_PAGE = 999;

/** The number belongs to the host, so that what opens one does not open another. */
function clearanceOf(host: string): string {
  const seed = seedOf(host);
  for (let tried = 0; ; tried++) if (seedOf(`${seed}:${tried}`) % PUZZLE === 0) return `${seed}.${tried}`;
}

const scriptFor = (host: string): string => `
const seedOf = (text) => {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
};
const seed = ${seedOf(host)};
let tried = 0;
const work = () => {
  for (let step = 0; step < 2000; step++, tried++) {
    if (seedOf(seed + ':' + tried) % ${PUZZLE} !== 0) continue;
    document.cookie = '${COOKIE}=' + seed + '.' + tried + '; path=/js/';
    location.reload();
    return;
  }
  setTimeout(work);
};
setTimeout(work, ${WORK_MS});`;

const interstitial = (host: string, marks: string, title: string): string =>
  `<!doctype html>\n<html lang="en-US">\n<head>\n<meta charset="utf-8">\n<title>${title}</title>\n</head>\n<body>\n` +
  `<noscript>Enable JavaScript and cookies to continue</noscript>\n${marks}\n<script>${scriptFor(host)}\n</script>\n</body>\n</html>\n`;

const FORMS: Readonly<Record<string, (host: string) => Answer>> = {
  challenge: (host) =>
    html(
      interstitial(
        host,
        `<div class="main-wrapper"></div><script>window._cf_chl_opt={cType:'non-interactive',cRay:'0'};</script>`,
        'Just a moment...',
      ),
      403,
      { 'cf-mitigated': 'challenge', server: 'cloudflare' },
    ),
  'old-challenge': (host) =>
    html(
      interstitial(
        host,
        '<div class="cf-browser-verification"><h1>Checking your browser before accessing this site.</h1></div><form id="challenge-form" action="/cdn-cgi/l/chk_jschl"></form>',
        'Just a moment...',
      ),
      503,
      { server: 'cloudflare' },
    ),
};

export const CHALLENGE_FORMS: readonly string[] = Object.keys(FORMS);

export function answerChallenge(
  form: string,
  segment: string | undefined,
  request: SiteRequest,
): Answer | null {
  const page = numberIn(segment, LAST_PAGE);
  const ask = Object.hasOwn(FORMS, form) ? FORMS[form] : undefined;
  if (page === null || ask === undefined) return null;
  const clearance = clearanceOf(request.host);
  if (!hasCookie(request.headers.cookie, COOKIE, clearance)) return ask(request.host);
  const others = [1, 2, 3].map((step) => `${PREFIX}${form}/${(page + step) % (LAST_PAGE + 1)}`);
  return html(
    documentOf({
      title: `Behind the challenge: ${titleOf(page)}`,
      body: `<p>${paragraph(randomFrom(page), 600)}</p>${linkList(others)}`,
    }),
  );
}
