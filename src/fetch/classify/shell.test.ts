import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classify, hasEmptyRoot, type Observation } from './classify.ts';
import { type RenderedFacts, roughFacts, roughMarkup } from './page-facts.ts';

const PROSE = '<p>Some paragraph of an ordinary page with words and more words in it.</p>';

function page(html: string, more: Partial<Observation> = {}): Observation {
  return {
    url: 'https://a.example/x',
    finalUrl: 'https://a.example/x',
    statusCode: 200,
    headers: {},
    contentType: 'text/html',
    bytes: html.length,
    html,
    facts: { ...roughFacts(html), markup: roughMarkup(html) },
    ...more,
  };
}

describe('pages that scripts will fill need JavaScript', () => {
  test.each([
    ['React', '<div id="root"></div><script src="/static/js/main.8e1f.js"></script>'],
    [
      'React with a notice',
      '<noscript>You need to enable JavaScript to run this app.</noscript><div id=root></div><script src=/a.js></script>',
    ],
    [
      'a spinner without an id',
      '<body><div class="page"><div role="status">Loading…</div></div><script src="/x.js"></script></body>',
    ],
    [
      'a spinner in main',
      '<body><a href="/">Brand</a><main><p>Loading, please wait...</p></main><script src="/x.js"></script></body>',
    ],
    [
      'a sentence of waiting',
      '<body><svg><circle r="1"/></svg><p>Please wait while we load the page.</p><script src="/x.js"></script></body>',
    ],
    [
      'boxes in the shape of cards',
      `<body><a href="/">Brand</a><section>${'<div class="card"><div class="skeleton skeleton-title"></div></div>'.repeat(4)}</section><script src="/x.js"></script></body>`,
    ],
    [
      'a busy part',
      '<body><nav><a href="/">Home</a></nav><div id="feed" aria-busy="true"></div><footer>© 2026</footer><script src="/x.js"></script></body>',
    ],
    [
      'data without text',
      `<body><div class="wrap"></div><script type="application/json">{"items":[${'{"name":"An item"},'.repeat(200)}]}</script><script src="/x.js"></script></body>`,
    ],
    ['Vite', '<div id="app"></div><script type="module" src="/assets/index-B2x.js"></script>'],
    [
      'Vue with a spinner',
      '<div id="app"><div class="spinner"><svg><path/></svg>Loading...</div></div><script src="/app.js"></script>',
    ],
    ['Angular', '<app-root></app-root><script src="runtime.js" type="module"></script>'],
    [
      'Nuxt without a server',
      '<div id="__nuxt"></div><script>window.__NUXT__={serverRendered:false}</script>',
    ],
    [
      'Next that gave up',
      '<div><template data-dgst="BAILOUT_TO_CLIENT_SIDE_RENDERING"></template></div><script src="/_next/static/x.js"></script>',
    ],
    [
      'Gatsby',
      '<div id="___gatsby"><div style="outline:none" tabindex="-1"></div></div><script src="/app-1.js"></script>',
    ],
    ['Flutter', '<body><script src="flutter_bootstrap.js" async></script></body>'],
    ['nothing but a script', '<html><body><script>location.replace("/real")</script></body></html>'],
    [
      'a menu and an empty root',
      '<nav>Home Products About us Contact Help and legal things of all sorts, in a row and more</nav><div id="root"><!-- --></div><script src="/bundle.js"></script>',
    ],
    ['a heading that says so', '<h1>JavaScript is required</h1><script>start()</script>'],
    [
      'a forum that shows its text without scripts only',
      `<noscript>${PROSE.repeat(8)}</noscript><section id="main"></section><script src="/assets/start.js"></script>`,
    ],
    [
      'a German notice',
      '<noscript>Bitte aktivieren Sie JavaScript.</noscript><div id="mount"></div><script src=x.js></script>',
    ],
  ])('%s', (_, html) => {
    const found = classify(page(html));
    expect(found.outcome).toBe('needs-javascript');
    expect(found.evidence).toMatch(/^shell: .*; \d+ characters of text, \d+ scripts$/);
    // Extraction not having run makes no difference here.
    expect(classify(page(html, { facts: null })).outcome).toBe('needs-javascript');
  });

  test('also with many links, when no text came', () => {
    const html = `<nav>${'<a href="/x"></a>'.repeat(40)}</nav><noscript>${PROSE.repeat(8)}</noscript><script src="/a.js"></script>`;
    expect(classify(page(html)).outcome).toBe('needs-javascript');
  });
});

describe('pages whose content is there do not', () => {
  test.each([
    [
      'Next rendered on the server',
      `<div id="__next"><h1>Shop</h1>${PROSE.repeat(3)}</div><script id="__NEXT_DATA__" type="application/json">{}</script><script src="/_next/static/chunks/main.js"></script>`,
    ],
    [
      'a short Next page',
      '<div id="__next"><h1>Hi</h1><p>Short.</p></div><script src="/_next/static/chunks/main.js"></script>',
    ],
    [
      'Nuxt rendered on the server',
      `<div id="__nuxt"><main>${PROSE}</main></div><script>window.__NUXT__={serverRendered:!0}</script>`,
    ],
    [
      'a React form',
      '<div id="root"><form><label>Name<input name=a></label></form></div><script src="/main.js"></script>',
    ],
    [
      'an article with comments by script',
      `<article>${PROSE}</article><noscript>Please enable JavaScript to view the comments powered by Disqus.</noscript><script src="/embed.js"></script>`,
    ],
    [
      'a page with a tag manager',
      `${PROSE}<noscript><iframe src="https://www.googletagmanager.com/ns.html"></iframe></noscript><script src="https://x/gtm.js"></script>`,
    ],
    ['a picture', '<img src="a.png" alt=""><script src="/stats.js"></script>'],
    ['a short page with a script', '<h1>Hi</h1><script src="/stats.js"></script>'],
    [
      'an empty island on a real page',
      `${PROSE.repeat(10)}<div id="app"></div><script src="/app.js"></script>`,
    ],
    [
      'a small widget on a short page',
      `${PROSE.repeat(3)}<div id="app"></div><script src="/stats.js"></script>`,
    ],
    ['a page that leads on', '<meta http-equiv="refresh" content="0; url=/real"><script>x()</script>'],
    [
      'an article about notices',
      `<h1>How to enable JavaScript in old browsers, and why one should not</h1>${PROSE.repeat(10)}<script src=/a.js></script>`,
    ],
    ['no scripts at all', '<div id="root"></div><img src=a.png>'],
  ])('%s', (_, html) => {
    expect(classify(page(html))).toEqual({ outcome: 'ok', evidence: null, vendor: null });
  });

  test('nor do pages that a browser has shown', () => {
    const html = '<div id="root"></div><script src="/main.js"></script>';
    const rendered: RenderedFacts = { textLength: 0, fieldCount: 0, frames: [] };
    expect(classify(page(html, { rendered })).outcome).toBe('ok');
  });
});

describe('what a browser saw', () => {
  const frame = (url: string, width = 300, height = 65) => ({ url, width, height });
  const html = '<h1>shop.example</h1><div id="x"></div><script src="/a.js"></script>';
  const seen = (more: Partial<RenderedFacts>) =>
    classify(page(html, { rendered: { textLength: 40, fieldCount: 0, frames: [], ...more } }));

  test.each([
    ['turnstile', 'https://challenges.cloudflare.com/cdn-cgi/challenge-platform/h/b/turnstile/if'],
    ['datadome', 'https://geo.captcha-delivery.com/captcha/?initialCid=x'],
    ['hcaptcha', 'https://newassets.hcaptcha.com/captcha/v1/x/static/hcaptcha.html'],
    ['recaptcha', 'https://www.google.com/recaptcha/api2/anchor?k=x'],
    ['arkose', 'https://iframe.arkoselabs.com/x/index.html'],
  ])('a frame of %s alone on a page is a challenge', (vendor, url) => {
    expect(seen({ frames: [frame(url)] })).toMatchObject({ outcome: 'captcha', vendor });
    expect(seen({ frames: [frame(url)], fieldCount: 2 }).outcome).toBe('ok');
    expect(seen({ frames: [frame(url)], textLength: 5_000 }).outcome).toBe('ok');
    expect(seen({ frames: [frame(url, 1, 1)] }).outcome).toBe('ok');
  });
  test('other frames are not', () => {
    expect(seen({ frames: [frame('https://www.youtube.com/embed/x')] }).outcome).toBe('ok');
    expect(seen({ frames: [frame('https://evil.example/?https://geo.captcha-delivery.com/')] }).outcome).toBe(
      'ok',
    );
  });
});

test('looking for a root takes anything, and time in proportion to its length', () => {
  for (const piece of ['<div id="root">', '<div ', '<!--', '<div id=app><script', '<app-root', '<']) {
    expect(['#root', '#app', null]).toContain(hasEmptyRoot(piece.repeat(8_000)));
    expect(roughMarkup(piece.repeat(8_000)).formCount).toBe(0);
  }
  const parts = fc.constantFrom('<', '>', 'div id="root"', '!--', '-->', '/div', 'script', ' x', 'noscript');
  fc.assert(
    fc.property(fc.array(parts), (some) => {
      expect([null, '#root']).toContain(hasEmptyRoot(some.join('')));
      expect(roughMarkup(some.join('')).scriptCount).toBeGreaterThanOrEqual(0);
    }),
  );
});
