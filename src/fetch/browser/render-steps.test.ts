import { afterAll, describe, expect, test } from 'vitest';
import type { RenderAction, RenderDevice } from '../../core/model/render.ts';
import { serve } from '../http/loopback.fixture.ts';
import { failureOf, lastingBrowser, render, textOf } from './browser.fixture.ts';

const { engine, runtime } = lastingBrowser({ pagesAtOnce: 3, pagesEach: 3, maxBrowsers: 1 });
afterAll(() => engine.close());

const page = (body: string): string => `<!doctype html><html><body style="margin:0">${body}</body></html>`;
const show = async (body: string): Promise<string> => {
  const { origin } = await serve((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(page(body));
  });
  return `${origin}/`;
};
const LATE =
  '<script>setTimeout(() => { document.body.innerHTML += "<p class=late>late</p>" }, 300)</script>';

describe('waits', () => {
  test('for a selector', async () => {
    const response = await render(engine, await show(LATE), { wait: { selector: '.late' } });
    expect(textOf(response)).toContain('<p class="late">');
  });

  test('for a time, and for the network to come to rest', async () => {
    expect(textOf(await render(engine, await show(LATE), { wait: { ms: 800 } }))).toContain('class="late"');
    const { origin } = await serve((request, response) => {
      if (request.url === '/') {
        const script = 'fetch("/a").then((r) => r.text()).then((t) => { document.body.textContent = t })';
        response.setHeader('content-type', 'text/html').end(page(`<script>${script}</script>`));
      } else setTimeout(() => response.end('fetched'), 200);
    });
    const response = await render(engine, `${origin}/`, { wait: { until: 'networkidle' } });
    expect(textOf(response)).toContain('fetched');
  });

  test('a selector that never comes is named, and the page so far is kept', async () => {
    const more = { wait: { selector: '#never' }, timeoutMs: 3_000 };
    const response = await render(engine, await show('<p>here</p>'), more);
    expect(response.failure?.message).toMatch(/^wait\.selector #never: /);
    expect(textOf(response)).toContain('<p>here</p>');
  });

  test('scrolling makes a page grow to its end', async () => {
    const body =
      '<div id=l></div><script>let n=0;const add=()=>{if(n<5){n++;l.innerHTML+="<div style=height:900px>part "+n+"</div>"}};add();onscroll=()=>{if(scrollY+innerHeight>l.offsetHeight-50)add()}</script>';
    expect(textOf(await render(engine, await show(body), { scroll: {} }))).toContain('part 5');
  });
});

const FORM = `<input id=name><select id=size><option value=s>Small<option value=l>Large</select>
  <button id=go onclick="out.textContent = [name_(), size.value, keys].join(' ')">Go</button><p id=out></p>
  <script>let keys = 0; const name_ = () => document.getElementById('name').value; window.secret = { a: [1] };
  document.getElementById('name').onkeydown = () => { keys += 1 };</script>`;

describe('actions', () => {
  test('click, type, press, select, wait, scroll, evaluate and screenshot, in order', async () => {
    const actions: RenderAction[] = [
      { type: 'type', selector: '#name', text: 'Ada' },
      { type: 'press', selector: '#name', key: 'Backspace' },
      { type: 'select', selector: '#size', value: 'l' },
      { type: 'click', selector: '#go' },
      { type: 'wait', selector: '#out:not(:empty)' },
      { type: 'wait', ms: 10 },
      { type: 'scroll', pixels: 100 },
      { type: 'scroll', selector: '#out' },
      { type: 'press', key: 'Tab' },
      { type: 'evaluate', script: 'window.secret' },
      { type: 'screenshot' },
    ];
    const response = await render(engine, await show(FORM), { actions });
    expect(response.failure).toBeNull();
    expect(textOf(response)).toContain('<p id="out">Ad l 4</p>');
    expect(response.extra.actions.map(({ type }) => type)).toEqual(actions.map(({ type }) => type));
    expect(response.extra.actions[9]?.value).toEqual({ a: [1] });
    expect(response.extra.actions[10]?.picture?.contentType).toBe('image/png');
  });

  test.each([
    ['an expression', '1 + window.secret.a[0]', 2],
    ['a program', 'const two = 2; two * 3', 6],
    ['a function body', 'const a = window.secret.a; return a.length + 1 // end', 2],
    ['a function body that waits', 'const one = await Promise.resolve(1); return one + 6', 7],
    ['a promise', 'Promise.resolve({ b: null })', { b: null }],
  ])('evaluate takes %s', async (_, script, value) => {
    const { failure, extra } = await render(engine, await show(FORM), {
      actions: [{ type: 'evaluate', script }],
    });
    expect(failure).toBeNull();
    expect(extra.actions[0]?.value).toEqual(value);
  });

  test('one that leads to another page waits for it, and asks first', async () => {
    const { origin } = await serve((request, response) => {
      const body = request.url === '/' ? '<a href=/b>next</a>' : '<h1>second</h1>';
      response.setHeader('content-type', 'text/html').end(page(body));
    });
    const actions: RenderAction[] = [{ type: 'click', selector: 'a' }];
    expect(textOf(await render(engine, `${origin}/`, { actions }))).toContain('second');
    const stopped = await render(engine, `${origin}/`, { actions, onRedirect: async () => 'stop' });
    expect(stopped.redirectedTo).toBe(`${origin}/b`);
    expect(textOf(stopped)).toContain('next');
  });

  test('hover shows what waits for a pointer', async () => {
    const menu = '<style>p{display:none}</style><b id=m onmouseenter="m.textContent = \'open\'">menu</b>';
    const actions: RenderAction[] = [{ type: 'hover', selector: '#m' }];
    expect(textOf(await render(engine, await show(menu), { actions }))).toContain('>open</b>');
  });

  test('back leads to the page before, and never to one of an earlier request', async () => {
    const { origin } = await serve((request, response) => {
      const body = request.url === '/' ? '<a href=/b>next</a>' : `<h1>at ${request.url}</h1>`;
      response.setHeader('content-type', 'text/html').end(page(body));
    });
    const back: RenderAction = { type: 'back' };
    await render(engine, `${origin}/earlier`);
    const there = await render(engine, `${origin}/`, {
      actions: [{ type: 'click', selector: 'a' }, { type: 'wait', selector: 'h1' }, back],
    });
    expect(there.failure).toBeNull();
    expect(there).toMatchObject({ finalUrl: `${origin}/`, statusCode: 200 });
    expect(textOf(there)).toContain('next');
    const refused = await render(engine, `${origin}/`, { actions: [back] });
    expect(refused.failure?.message).toBe('actions.0 back: there is no page to go back to');
    expect(refused.finalUrl).toBe(`${origin}/`);
  });

  test('upload gives files to a page', async () => {
    const script = `f.onchange = async () => { for (const file of f.files)
      out.textContent += [file.name, file.type, await file.text()].join(' ') + ';' }`;
    const form = `<input type=file id=f multiple><p id=out></p><script>${script}</script>`;
    const files = [
      { name: 'a.txt', contentType: 'text/plain', base64: Buffer.from('größer').toString('base64') },
      { name: 'b', base64: '' },
    ];
    const { failure, extra } = await render(engine, await show(form), {
      actions: [
        { type: 'upload', selector: '#f', files },
        { type: 'wait', selector: '#out:not(:empty)' },
        {
          type: 'evaluate',
          script:
            'while (out.textContent.split(";").length < 3) await new Promise((go) => setTimeout(go, 5)); return out.textContent',
        },
      ],
    });
    expect(failure).toBeNull();
    expect(extra.actions.at(-1)?.value).toBe('a.txt text/plain größer;b application/octet-stream ;');
  });

  test.each<[RenderAction, RegExp]>([
    [{ type: 'click', selector: '#buy', timeoutMs: 300 }, /^actions\.1 click #buy: .*300ms/],
    [{ type: 'evaluate', script: 'nope()' }, /^actions\.1 evaluate: .*nope is not defined/],
    [{ type: 'evaluate', script: 'for(;;);', timeoutMs: 300 }, /^actions\.1 evaluate: it took longer/],
    [{ type: 'select', selector: '#size', value: 'xl', timeoutMs: 300 }, /^actions\.1 select #size: /],
    [{ type: 'click', selector: '##', timeoutMs: 300 }, /^actions\.1 click ##: /],
    [{ type: 'press', key: 'NoSuchKey', timeoutMs: 300 }, /^actions\.1 press NoSuchKey: /],
  ])('%o fails with its name, and what came before it is kept', async (action, message) => {
    const actions: RenderAction[] = [
      { type: 'type', selector: '#name', text: 'A' },
      action,
      { type: 'click', selector: '#go' },
    ];
    const attempt = render(engine, await show(FORM), { actions });
    if (action.type === 'evaluate' && action.script === 'for(;;);') {
      // Nothing can be read of a page that does not answer.
      expect((await failureOf(attempt)).message).toMatch(message);
      return;
    }
    const response = await attempt;
    expect(response.failure?.message).toMatch(message);
    expect(response.extra.actions).toHaveLength(1);
    expect(textOf(response)).toContain('id="go"');
  });

  test('pages were returned whatever happened on them', async () => {
    expect(runtime.running?.pool.stats).toMatchObject({ pagesInUse: 0, waiting: 0, browsers: 1 });
    expect(textOf(await render(engine, await show('still well')))).toContain('still well');
  });
});

describe('pictures', () => {
  const sizeOf = (png: Uint8Array): [number, number] => {
    const bytes = Buffer.from(png);
    return [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  };
  const BODY =
    '<div style="height:2000px;background:linear-gradient(#fff,#06c)"><h1 id=h style="margin:0;width:300px;height:50px">Hello</h1></div>';

  test('of the viewport, the full page and one element', async () => {
    const url = await show(BODY);
    const viewport = { width: 800, height: 600 };
    const shots = await Promise.all(
      [{}, { fullPage: true }, { selector: '#h' }].map((screenshot) =>
        render(engine, url, { device: { viewport }, screenshot }),
      ),
    );
    const sizes = shots.map(({ extra }) => sizeOf(extra.screenshot?.bytes ?? new Uint8Array(24)));
    expect(sizes).toEqual([
      [800, 600],
      [800, 2_000],
      [300, 50],
    ]);
  });

  test('in JPEG, and as PDF', async () => {
    const response = await render(engine, await show(BODY), {
      screenshot: { format: 'jpeg', quality: 40 },
      pdf: true,
    });
    expect(response.extra.screenshot?.contentType).toBe('image/jpeg');
    expect([...(response.extra.screenshot?.bytes.subarray(0, 3) ?? [])]).toEqual([0xff, 0xd8, 0xff]);
    expect(Buffer.from(response.extra.pdf ?? []).toString('latin1')).toMatch(/^%PDF-1\.\d[\s\S]*%%EOF\s*$/);
  });

  test('of an element that is not there is a failure with its name', async () => {
    const more = { screenshot: { selector: '#gone' }, timeoutMs: 3_000 };
    const response = await render(engine, await show(BODY), more);
    expect(response.failure?.message).toMatch(/^screenshot: /);
    expect(textOf(response)).toContain('Hello');
  });
});

describe('what scripts fetch', () => {
  test('is captured with method, status, type and body, up to a limit', async () => {
    const small = lastingBrowser({ maxBrowsers: 1 }, { limits: { maxXhrBytes: 1_000 } });
    const { origin } = await serve((request, response) => {
      if (request.url === '/') {
        const script =
          'fetch("/a");fetch("/big");fetch("/gone",{method:"POST",body:"x"});const x=new XMLHttpRequest();x.open("GET","/x");x.send()';
        response.setHeader('content-type', 'text/html').end(page(`<script>${script}</script>`));
        return;
      }
      response.writeHead(request.url === '/gone' ? 410 : 200, { 'content-type': 'application/json' });
      response.end(request.url === '/big' ? `"${'x'.repeat(2_000)}"` : `{"at":"${request.url}"}`);
    });
    const { extra } = await render(small.engine, `${origin}/`, {
      captureXhr: true,
      wait: { until: 'networkidle' },
    });
    await small.engine.close();
    const seen = extra.xhr
      .map(({ url, method, statusCode, contentType, body, isTooLarge }) => [
        new URL(url).pathname,
        method,
        statusCode,
        contentType,
        body && Buffer.from(body).toString(),
        isTooLarge,
      ])
      .sort();
    expect(seen).toEqual([
      ['/a', 'GET', 200, 'application/json', '{"at":"/a"}', false],
      ['/big', 'GET', 200, 'application/json', null, true],
      ['/gone', 'POST', 410, 'application/json', '{"at":"/gone"}', false],
      ['/x', 'GET', 200, 'application/json', '{"at":"/x"}', false],
    ]);
  });

  test('is not even asked for when it is blocked', async () => {
    const asked: string[] = [];
    const { origin } = await serve((request, response) => {
      asked.push(request.url ?? '');
      response
        .setHeader('content-type', 'text/html')
        .end(
          page(
            '<img src=/a.png><img src="/b.jpg?x"><style>@font-face{font-family:f;src:url(/f.woff2)}p{font-family:f}</style><p>t</p><script src=/c.js></script>',
          ),
        );
    });
    await render(engine, `${origin}/`, { blockResources: ['images', 'fonts', 'media', 'trackers'] });
    expect(asked.sort()).toEqual(['/', '/c.js']);
    await render(engine, `${origin}/`);
    expect(asked).toContain('/a.png');
  });
});

describe('stored credentials', () => {
  const FIELD = `<input id=password type=password><a id=show href="#" onclick="document.getElementById('password').type = 'text'">show</a>`;
  const fillFor = (url: string) => ({ hosts: [new URL(url).host], isPassword: true });

  test('stay masked in pictures when the page makes the field readable', async () => {
    const picture = async (text: string, isFilled: boolean) => {
      const url = await show(FIELD);
      const actions: RenderAction[] = [
        { type: 'type', selector: '#password', text, ...(isFilled ? { fill: fillFor(url) } : {}) },
        { type: 'click', selector: '#show' },
        { type: 'screenshot', selector: '#password' },
      ];
      const { extra, failure } = await render(engine, url, { actions });
      expect(failure).toBeNull();
      return Buffer.from(extra.actions[2]?.picture?.bytes ?? []).toString('base64');
    };
    expect(await picture('wwww', false)).not.toBe(await picture('iiii', false));
    expect(await picture('wwww', true)).toBe(await picture('iiii', true));
  });

  test('are put into the field of their host, as a whole', async () => {
    const url = await show(`${FIELD}<p id=out></p><script>password.oninput = () => {
      out.textContent = password.value.length }</script>`);
    const action: RenderAction = { type: 'type', selector: '#password', text: 'secret', fill: fillFor(url) };
    expect(textOf(await render(engine, url, { actions: [action] }))).toContain('<p id="out">6</p>');
    const elsewhere = { ...action, fill: { hosts: ['shop.example'], isPassword: true } };
    const { failure } = await render(engine, url, { actions: [elsewhere] });
    expect([failure?.code, failure?.message]).toEqual([
      'ACTION_FAILED',
      expect.stringContaining('the credentials are for shop.example and not for 127.0.0.1'),
    ]);
  });
});

describe('a device', () => {
  const FACTS = `JSON.stringify({
    size: [innerWidth, innerHeight], touch: navigator.maxTouchPoints > 0, agent: navigator.userAgent,
    language: navigator.language, zone: Intl.DateTimeFormat().resolvedOptions().timeZone })`;
  const facts = async (device: RenderDevice | undefined) => {
    let accepted: string | undefined;
    const { origin } = await serve((request, response) => {
      accepted = request.headers['accept-language'] ?? accepted;
      const head = '<meta name=viewport content="width=device-width">';
      response.setHeader('content-type', 'text/html').end(page(head));
    });
    const actions: RenderAction[] = [{ type: 'evaluate', script: FACTS }];
    const { failure, extra } = await render(engine, `${origin}/`, { device, actions });
    expect(failure).toBeNull();
    return { ...JSON.parse(String(extra.actions[0]?.value)), accepted };
  };

  test('has the size, the language and the time zone that were asked for', async () => {
    const asked = await facts({
      viewport: { width: 700, height: 500 },
      locale: 'de-DE',
      timezone: 'Asia/Tokyo',
    });
    expect(asked).toMatchObject({ size: [700, 500], touch: false, agent: 'TestBot/1' });
    expect(asked).toMatchObject({ language: 'de-DE', zone: 'Asia/Tokyo' });
    expect(asked.accepted).toMatch(/^de-DE/);
    expect(await facts(undefined)).toMatchObject({ size: [1_280, 800], touch: false });
  });

  test('is a phone with `isMobile`', async () => {
    expect(await facts({ isMobile: true })).toMatchObject({
      size: [412, 915],
      touch: true,
      agent: 'TestBot/1 Mobile',
    });
  });

  test('has a place that pages may ask for', async () => {
    const script = `const { coords } = await new Promise((done, fail) =>
      navigator.geolocation.getCurrentPosition(done, fail)); return [coords.latitude, coords.longitude]`;
    const { failure, extra } = await render(engine, await show(''), {
      device: { geolocation: { latitude: 52.5, longitude: 13.4 } },
      actions: [{ type: 'evaluate', script }],
    });
    expect(failure).toBeNull();
    expect(extra.actions[0]?.value).toEqual([52.5, 13.4]);
  });
});
