import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify, type Observation } from './classify.ts';
import { type PageFacts, roughFacts } from './page-facts.ts';
import { saysNotFound } from './page-phrases.ts';
import { VENDOR_SIGNS } from './vendor-signs.ts';

const PROSE = '<p>Some paragraph of an ordinary page with words and more words in it.</p>'.repeat(60);

function page(html: string, more: Partial<Observation> = {}): Observation {
  return {
    url: 'https://a.example/x',
    finalUrl: 'https://a.example/x',
    statusCode: 200,
    headers: {},
    contentType: 'text/html; charset=utf-8',
    bytes: html.length,
    html,
    facts: null,
    ...more,
  };
}
const outcomeOf = (seen: Observation) => classify(seen).outcome;
const facts = (more: Partial<PageFacts>): PageFacts => ({
  title: null,
  heading: null,
  textLength: 300,
  linkCount: 3,
  ...more,
});

describe('ordinary answers are ok', () => {
  test.each([
    ['a page', page(`<title>Shop</title>${PROSE}`)],
    ['a short page', page('<title>Hi</title><h1>Hi</h1><p>Short.</p>')],
    ['not modified', page('', { statusCode: 304 })],
    ['no content', page('', { statusCode: 204 })],
    ['a redirect that was not followed', page('', { statusCode: 302 })],
    ['a PDF', page('', { contentType: 'application/pdf', bytes: 90_000 })],
    ['JSON that says not found', page('{"title":"Not found"}', { contentType: 'application/json' })],
  ])('%s', (_, seen) => {
    expect(classify(seen)).toEqual({ outcome: 'ok', evidence: null, vendor: null });
  });
});

describe('pages that merely mention protection are not blocked', () => {
  const mention =
    '<p>How window._cf_chl_opt, _Incapsula_Resource? in a main-iframe, px-captcha with _pxAppId, gokuProps and ' +
    'AwsWafIntegration, captcha-delivery.com with var dd= and sucuri_cloudproxy_js work. Incapsula incident ID.</p>';
  test('an article about all of them', () => {
    expect(outcomeOf(page(`<title>Captchas</title>${mention}${PROSE}`))).toBe('ok');
  });
  test('a contact form with a captcha widget', () => {
    const form = '<form><div class="g-recaptcha" data-sitekey="k"></div><div class="h-captcha"></div></form>';
    expect(outcomeOf(page(`<title>Contact</title>${form}`))).toBe('ok');
  });
  test('a site behind Cloudflare, Akamai or DataDome', () => {
    const headers = { server: 'AkamaiGHost', 'cf-ray': '1', 'x-datadome': 'protected', 'x-iinfo': '1' };
    const script = '<script src="/cdn-cgi/challenge-platform/scripts/jsd/main.js"></script>';
    expect(outcomeOf(page(`${script}<p>Welcome</p>`, { headers }))).toBe('ok');
  });
  test.each([
    ['a short note that quotes a challenge', '<p>Look for window._cf_chl_opt in the source.</p>'],
    [
      'a short answer that quotes Imperva',
      '<p>It says Incapsula incident ID: 1 and _Incapsula_Resource?</p>',
    ],
    ['a quoted main-iframe', '<pre>&lt;iframe id="main-iframe" src="/_Incapsula_Resource?x"&gt;</pre>'],
    ['a question about F5', '<p>Why do I get "The requested URL was rejected. Your support ID is 7"?</p>'],
    ['a note on AWS WAF', '<p>gokuProps and AwsWafIntegration are in every challenge page.</p>'],
    ['a note on DataDome', "<p>Search for var dd= and 'rt':'i' with captcha-delivery.com.</p>"],
    ['a note on PerimeterX', '<p>px-captcha, _pxAppId and _pxUuid</p>'],
    ['a note on Akamai', '<p>sec-if-cpt-container, bm-verify, triggerInterstitialChallenge</p>'],
    ['a note on Kasada and Sucuri', '<p>KPSDK, ips.js and sucuri_cloudproxy_js</p>'],
    ['a story called so', '<title>Are you human? A short story</title><script></script><p>He was.</p>'],
    [
      'a review of vendors',
      '<title>Cloudflare vs Akamai vs DataDome</title><p>Which one?</p><script src=/x.js></script>',
    ],
    ['a login with Turnstile', '<h1>Account</h1><div class="cf-turnstile"></div><input type=password>'],
    ['a sign-up with GeeTest', '<script src="https://static.geetest.com/v4/gt4.js"></script><p>Join</p>'],
    [
      'a page with Arkose loaded',
      '<script src="https://client-api.arkoselabs.com/v2/api.js"></script><p>Join</p>',
    ],
    [
      'a page with reCAPTCHA v3',
      '<script src="https://www.google.com/recaptcha/api.js?render=k"></script><p>Hi</p>',
    ],
    ['a page measured by HUMAN', '<script>window._pxAppId="PX1"</script><p>Hello there</p>'],
    ['a page watched by Imperva', '<script src="/_Incapsula_Resource?SWJIYLWA=1" async></script><p>Shop</p>'],
    ['a page watched by Akamai', '<script src="/akam/13/5f2"></script><p>Shop</p>'],
    ['a page watched by DataDome', '<script src="https://js.datadome.co/tags.js"></script><p>Shop</p>'],
    [
      'a page with the Cloudflare beacon',
      '<script src="https://static.cloudflareinsights.com/b.js"></script><p>Hi</p>',
    ],
  ])('%s', (_, html) => {
    expect(classify(page(html)).outcome).toBe('ok');
  });

  test('pages that are not there stay errors, whatever their forms carry', () => {
    for (const widget of ['<div class="g-recaptcha"></div>', '<div class="cf-turnstile"></div>']) {
      expect(outcomeOf(page(`<h1>Gone</h1>${widget}`, { statusCode: 404 }))).toBe('error');
    }
    expect(outcomeOf(page('<h1>Forbidden</h1>', { statusCode: 403 }))).toBe('error');
  });

  test('a full error page that carries a widget', () => {
    const seen = page(`<div class="g-recaptcha"></div>${PROSE}`, { statusCode: 403 });
    expect(classify(seen)).toEqual({ outcome: 'error', evidence: 'status: 403', vendor: null });
  });
  test('an origin behind Cloudflare that is down', () => {
    expect(outcomeOf(page('<div id="cf-error-details">522</div>', { statusCode: 522 }))).toBe('error');
  });
});

describe('blocks and challenges', () => {
  test.each([
    [
      'Cloudflare by header',
      page('', { statusCode: 403, headers: { 'cf-mitigated': 'challenge' } }),
      'blocked',
    ],
    [
      'Cloudflare by markup',
      page('<title>Just a moment...</title><script>window._cf_chl_opt={}</script>', { statusCode: 503 }),
      'blocked',
    ],
    [
      'Cloudflare firewall',
      page('error code: 1020', { statusCode: 403, contentType: 'text/plain' }),
      'blocked',
    ],
    [
      'Akamai',
      page('<h1>Access Denied</h1>https://errors.edgesuite.net/18.1', { statusCode: 403 }),
      'blocked',
    ],
    [
      'DataDome',
      page("<script>var dd={'host':'geo.captcha-delivery.com'}</script>", { statusCode: 403 }),
      'captcha',
    ],
    [
      'PerimeterX',
      page('<div id="px-captcha"></div><script>window._pxAppId="PX1"</script>', { statusCode: 403 }),
      'captcha',
    ],
    [
      'Imperva with status 200',
      page('<iframe id="main-iframe" src="/_Incapsula_Resource?CWUDNSAI=1">Request unsuccessful.</iframe>'),
      'blocked',
    ],
    ['AWS WAF', page('', { statusCode: 202, headers: { 'x-amzn-waf-action': 'challenge' } }), 'blocked'],
    [
      'AWS WAF captcha',
      page('', { statusCode: 405, headers: { 'x-amzn-waf-action': 'captcha' } }),
      'captcha',
    ],
    ['Vercel', page('', { statusCode: 429, headers: { 'x-vercel-mitigated': 'challenge' } }), 'blocked'],
    ['a bare captcha', page('<div class="h-captcha"></div>', { statusCode: 403 }), 'captcha'],
  ] as const)('%s', (_, seen, outcome) => {
    const found = classify(seen);
    expect(found.outcome).toBe(outcome);
    expect(found.evidence).toMatch(/: (header|markup) /);
  });

  test('every sign of the table is recognised by itself', () => {
    for (const sign of VENDOR_SIGNS) {
      const statusCode =
        sign.status === 'any' ? 200 : sign.status === 'error' ? 403 : (sign.status[0] ?? 403);
      const html = `<html><head>${(sign.markup ?? []).map(asCode).join(' ')}</head><body>x</body></html>`;
      const value = sign.header?.[1].source.replace(/[^a-z-]/gi, '').replace('challengedeny', 'deny') || 'x';
      const headers = sign.header === undefined ? {} : { [sign.header[0]]: value };
      const found = classify(page(html, { statusCode, headers }));
      // An earlier sign of the same vendor may be part of this one.
      expect(found.vendor, JSON.stringify(sign)).toBe(sign.vendor);
      expect(found.evidence?.split(':')[0]).toBe(sign.vendor);
      expect(found.outcome).toBe(sign.outcome);
    }
  });

  test('an address where visitors are challenged', () => {
    const more = { finalUrl: 'https://www.google.com/sorry/index?continue=x' };
    expect(classify(page('<p>x</p>', more))).toMatchObject({ outcome: 'captcha', vendor: 'google' });
    expect(outcomeOf(page('<p>x</p>', { ...more, url: 'https://www.google.com/sorry/about' }))).toBe('ok');
  });

  test('a question for humans, whoever asks it', () => {
    const asked = page('<title>Robot or human?</title><form><button>Press</button></form>');
    expect(classify(asked)).toEqual({ outcome: 'blocked', evidence: 'title: Robot or human?', vendor: null });
    const puzzled = page('<title>Are you human?</title><form><div class="h-captcha"></div></form>');
    expect(classify(puzzled)).toEqual({
      outcome: 'captcha',
      evidence: 'title: Are you human? and hcaptcha: markup h-captcha',
      vendor: 'hcaptcha',
    });
    const denied = page('<title>Access to this page has been denied.</title>', { statusCode: 403 });
    expect(classify(denied).outcome).toBe('blocked');
    expect(classify(page('<h1>x</h1>', { statusCode: 999 }))).toMatchObject({ vendor: 'linkedin' });
  });

  test('too many requests at the edge are a rate limit and not a block', () => {
    const seen = page('error code: 1015', { statusCode: 429, contentType: 'text/plain' });
    expect(classify(seen)).toMatchObject({ outcome: 'rate-limited', vendor: 'cloudflare' });
  });
});

/** Parts that are no tags of their own stand in a script. */
const asCode = (part: string): string => (part.startsWith('<') ? part : `<script>${part}</script>`);

describe('statuses', () => {
  test.each([
    [429, {}, 'rate-limited'],
    [503, { 'retry-after': '120' }, 'rate-limited'],
    [503, {}, 'error'],
    [401, {}, 'login-wall'],
    [403, {}, 'error'],
    [404, {}, 'error'],
    [500, {}, 'error'],
  ] as const)('%i %j is %s', (statusCode, headers, outcome) => {
    const found = classify(page('<h1>Something</h1>', { statusCode, headers }));
    expect(found.outcome).toBe(outcome);
    expect(found.evidence).toContain(String(statusCode));
  });
});

describe('soft 404', () => {
  test.each([
    'Page not found',
    '404',
    '404 - Not Found | Shop',
    'Error 404',
    'Not Found',
    'Sorry, page not found',
    'Oops! That page can’t be found',
    'The page could not be found',
    'This page does not exist',
    'Seite nicht gefunden',
    'Page introuvable',
    'Página no encontrada',
    'Página não encontrada',
    'Pagina non trovata',
    'Pagina niet gevonden',
    'Sidan hittades inte',
    'Siden ble ikke funnet',
    'Strona nie istnieje',
    'Страница не найдена',
    'Sayfa bulunamadı',
    'ページが見つかりません',
    '页面不存在',
    '페이지를 찾을 수 없습니다',
    'الصفحة غير موجودة',
  ])('%s', (title) => {
    const found = classify(page('<p>x</p>', { facts: facts({ title }) }));
    expect(found.outcome).toBe('soft-404');
    expect(found.evidence).toContain('title: ');
    expect(classify(page('<p>x</p>', { facts: facts({ heading: title }) })).outcome).toBe('soft-404');
  });

  test.each([
    'Peugeot 404',
    '404 Main Street, Springfield',
    'How I found the lost city',
    'Founders of the site',
    'Lost and found',
    'Page 404 of the register',
    'What is not found in nature',
    'Fehlerseiten gestalten',
  ])('%s is a page', (title) => {
    expect(saysNotFound(title)).toBe(false);
  });

  test('a long page with such a title is a page', () => {
    const long = facts({ title: 'Page not found', textLength: 4_000 });
    expect(outcomeOf(page('<p>x</p>', { facts: long }))).toBe('ok');
  });

  test('the markup is asked when nothing was extracted', () => {
    expect(outcomeOf(page('<title>\n Page not\n found </title><p>Oh no</p>'))).toBe('soft-404');
    expect(outcomeOf(page(`<title>Page not found</title>${PROSE}`))).toBe('ok');
  });
});

describe('login walls', () => {
  const url = 'https://a.example/orders/7';
  test('a redirect to a form with a password', () => {
    const html = '<form><input name=u><input type="password" name=p></form>';
    expect(outcomeOf(page(html, { url, finalUrl: 'https://a.example/account/login' }))).toBe('login-wall');
  });
  test('a redirect to a single sign-on that knows the way back', () => {
    const finalUrl = 'https://login.b.example/start?return_to=%2Forders';
    expect(outcomeOf(page('<p>Hello</p>', { url, finalUrl }))).toBe('login-wall');
  });
  test('the login page itself is a page, and so is one with a login box', () => {
    const html = '<input type=password>';
    const login = 'https://a.example/login';
    expect(outcomeOf(page(html, { url: login, finalUrl: `${login}/` }))).toBe('ok');
    expect(outcomeOf(page(html, { url, finalUrl: 'https://a.example/orders/7/' }))).toBe('ok');
    expect(outcomeOf(page(html, { url, finalUrl: 'https://a.example/blogging' }))).toBe('ok');
  });
});

test('a form to log in where something else was asked for is a wall', () => {
  const html = '<title>Sign in | Shop</title><form><input type="password"></form>';
  expect(classify(page(html))).toMatchObject({ outcome: 'login-wall', evidence: 'title: Sign in | Shop' });
  expect(outcomeOf(page(html, { url: 'https://a.example/login', finalUrl: 'https://a.example/login' }))).toBe(
    'ok',
  );
  expect(outcomeOf(page(`<title>Shop</title>${html.slice(30)}`))).toBe('ok');
  expect(outcomeOf(page('<title>Sign in with a smile</title><p>A song</p>'))).toBe('ok');
});

test('empty is what has neither bytes nor anything to see', () => {
  expect(classify(page('')).outcome).toBe('empty');
  expect(classify(page('<html><head></head><body>  </body></html>')).outcome).toBe('empty');
  expect(classify(page('<html><body><img src="a.png"></body></html>')).outcome).toBe('ok');
});

test('any response gets an answer, with evidence unless it is ok', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 200, max: 599 }),
      fc.string(),
      fc.option(fc.string()),
      (statusCode, html, contentType) => {
        const { outcome, evidence } = classify(page(html, { statusCode, contentType }));
        expect(evidence === null).toBe(outcome === 'ok');
      },
    ),
  );
});

describe('a rough reading', () => {
  test('sees title, heading, text and links, and not what is hidden', () => {
    const html =
      '<head><title>A <b>title</b></title><style>p{}</style></head><!-- <a href=x>no</a> -->' +
      '<h1 class="x">The\n heading</h1><h1>second</h1><p>Text <a href="/1">one</a> <A HREF=/2>two</A></p>' +
      '<script>"<a href=3>three</a> and much more text"</script><a name=x>';
    expect(roughFacts(html)).toEqual({
      title: 'A title',
      heading: 'The heading',
      textLength: 28,
      linkCount: 2,
    });
  });

  test('takes anything, and time in proportion to its length', () => {
    for (const piece of ['<script', '<!--', '<a href', '<title>', '<head ', '<', '<style>', '<h1>x', '</']) {
      expect(roughFacts(piece.repeat(20_000)).linkCount).toBeLessThan(20_001);
    }
    fc.assert(
      fc.property(
        fc.array(fc.constantFrom('<', '>', '!--', '-->', 'title', 'h1', '/', 'script', ' x')),
        (parts) => {
          expect(roughFacts(parts.join('')).textLength).toBeGreaterThanOrEqual(0);
        },
      ),
    );
  });
});
