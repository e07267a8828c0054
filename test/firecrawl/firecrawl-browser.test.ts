import { afterAll, beforeAll, expect, it } from 'vitest';
import { openBrowserWorld } from '../integration/browser-world.ts';
import { clientOf, type FirecrawlWorld, openFirecrawlWorld } from './firecrawl-world.ts';

let world: FirecrawlWorld;
beforeAll(async () => {
  world = await openFirecrawlWorld({}, openBrowserWorld);
});
afterAll(async () => {
  await world.close();
});

const PAGE = `<!doctype html><title>Form</title><main><h1>Form</h1>
<p>Write your name and press the button, then the page greets you by it.</p>
<input id="name"><button onclick="document.querySelector('#said').textContent = 'Hello ' + document.querySelector('#name').value">Greet</button>
<p id="said"></p></main>`;
const PNG = /^data:image\/png;base64,iVBORw0KGgo/;

it('does what it is told on a page, and brings pictures, values, documents and a PDF', async () => {
  world.small.pages.set('/form', { body: PAGE });
  const document = await clientOf(world.origin, world.secret).scrape(`${world.small.origin}/form`, {
    formats: ['markdown', { type: 'screenshot', fullPage: true, viewport: { width: 800, height: 600 } }],
    actions: [
      { type: 'wait', selector: '#name' },
      { type: 'click', selector: '#name' },
      { type: 'write', text: 'Ada' },
      { type: 'scrape' },
      { type: 'click', selector: 'button', all: true },
      { type: 'screenshot' },
      { type: 'executeJavascript', script: 'document.querySelector("#said").textContent' },
      { type: 'scroll', direction: 'down' },
      { type: 'pdf' },
    ],
    timeout: 60_000,
  });
  expect(document.markdown).toContain('Hello Ada');
  expect(document.screenshot).toMatch(PNG);
  const { screenshots, scrapes, javascriptReturns, pdfs } = document.actions;
  expect(screenshots).toEqual([expect.stringMatching(PNG)]);
  expect(scrapes).toEqual([
    { url: `${world.small.origin}/form`, html: expect.not.stringContaining('<p id="said">Hello Ada') },
  ]);
  expect(javascriptReturns).toEqual([{ type: 'string', value: 'Hello Ada' }]);
  expect(pdfs).toEqual([expect.stringMatching(/^data:application\/pdf;base64,JVBER/)]);
});

it('says which action has failed', async () => {
  const client = clientOf(world.origin, world.secret).v1;
  const actions = [{ type: 'click', selector: '#no-such-button' }];
  const page = await client.scrapeUrl(`${world.small.origin}/docs`, {
    formats: ['screenshot'],
    actions,
    timeout: 20_000,
  });
  expect(page.warning).toContain('#no-such-button');
  expect(page.metadata.scrapifie.error.code).toBe('ACTION_FAILED');
});
