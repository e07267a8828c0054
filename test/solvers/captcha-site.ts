import { bodyOf, sendHtml, sendJson, serving } from './local-server.ts';

/** A site whose pages are behind widgets; each lets in only who brings the token that was made for it. */
export interface CaptchaSite {
  readonly origin: string;
  /** Tokens that were tried, in order. */
  readonly tried: readonly string[];
  /** Accepts these tokens, and no other. */
  accepts: string;
}

const INSIDE = '<h1>Inside</h1><p id="content">What was behind the captcha</p>';
const html = (body: string, head = ''): string =>
  `<!doctype html><html><head><title>Are you human?</title>${head}</head><body>${body}</body></html>`;

/** A form with a widget; `class` and `attributes` are the widget's. */
const form = (mark: string, attributes: string, field: string): string =>
  html(
    `<form method="post" action="/enter?field=${field}"><div class="${mark}" ${attributes}></div>
     <textarea name="${field}" style="display:none"></textarea></form>`,
  );

const PAGES: Readonly<Record<string, string>> = {
  '/recaptcha': form('g-recaptcha', 'data-sitekey="key-v2" data-s="once"', 'g-recaptcha-response'),
  '/hcaptcha': form('h-captcha', 'data-sitekey="key-h"', 'h-captcha-response'),
  '/turnstile': html(
    `<form method="post" action="/enter?field=cf-turnstile-response">
     <div class="cf-turnstile" data-sitekey="key-t" data-action="enter" data-cdata="visit"></div></form>`,
  ),
  // The page calls for its content by itself once it has a token.
  '/callback': html(
    `<div id="gate"><div class="cf-turnstile" data-sitekey="key-t" data-callback="site.enter"></div></div>
     <script>
       window.site = { enter: async (token) => {
         history.replaceState(null, '', '/callback?checking');
         const answer = await fetch('/check', { method: 'POST', body: token });
         if ((await answer.json()).ok) document.body.innerHTML = ${JSON.stringify(INSIDE)};
       } };
     </script>`,
  ),
  // Rendered by a script that keeps its callback where reCAPTCHA keeps it.
  '/explicit': html(
    `<iframe src="/recaptcha/enterprise/anchor?k=key-e&amp;size=invisible&amp;s=once"></iframe>
     <script>
       window.___grecaptcha_cfg = { clients: { 0: { Aa: { l: { sitekey: 'key-e', callback: (token) => {
         location.href = '/enter?token=' + encodeURIComponent(token);
       } } }, Bb: { node: document.body } } } };
     </script>`,
  ),
  // Nothing to see: the visitor is judged.
  '/score': html(
    `<form method="post" action="/enter?field=g-recaptcha-response" data-action="enter">
     <input type="hidden" name="g-recaptcha-response"></form>`,
    '<script src="/recaptcha/api.js?render=key-v3"></script>',
  ),
  '/deaf': html('<div class="h-captcha" data-sitekey="key-h"></div>'),
  '/idle': html(
    '<div class="h-captcha" data-sitekey="key-h" data-callback="idle"></div><script>window.idle = () => {};</script>',
  ),
  '/none': html('<p>A page about reCAPTCHA, hCaptcha and Turnstile.</p>'),
};

export async function startCaptchaSite(): Promise<CaptchaSite> {
  const tried: string[] = [];
  const origin = await serving(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site');
    const body = await bodyOf(request);
    const isRight = (token: string): boolean => {
      tried.push(token);
      return token === site.accepts;
    };
    if (pathname === '/check') return sendJson(response, { ok: isRight(body) });
    if (pathname === '/enter') {
      const field = searchParams.get('field');
      const token = field === null ? searchParams.get('token') : new URLSearchParams(body).get(field);
      return sendHtml(response, isRight(token ?? '') ? html(INSIDE) : (PAGES['/recaptcha'] ?? ''));
    }
    if (pathname.startsWith('/recaptcha/')) return sendHtml(response, '');
    sendHtml(response, PAGES[pathname] ?? html('Not found'), PAGES[pathname] === undefined ? 404 : 200);
  });
  const site: CaptchaSite = { origin, tried, accepts: '' };
  return site;
}
