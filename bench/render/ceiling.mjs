// The bare ceiling: warm pages of one context and one renderer process, led from one address to the next by a loop that
// stores nothing and obeys nothing. usage: node ceiling.mjs URL CONCURRENCY BROWSER SELECTOR
import { chromium } from 'playwright';

const [, , start, concurrency, executablePath, selector] = process.argv;
const { origin } = new URL(start);
const browser = await chromium.launch({
  executablePath,
  chromiumSandbox: process.getuid?.() !== 0,
  args: ['--renderer-process-limit=1'],
});
const context = await browser.newContext();
const seen = new Set([start]);
const queue = [start];
let pages = 0;
let errors = 0;
let chars = 0;

async function show(page, url) {
  try {
    await page.goto(url);
    await page.waitForSelector(selector, { state: 'attached' });
    const hrefs = await page.evaluate(() =>
      [...document.querySelectorAll('a[href]')].map(({ href }) => href),
    );
    chars += (await page.content()).length;
    pages += 1;
    for (const href of hrefs) {
      if (!href.startsWith(origin) || seen.has(href)) continue;
      seen.add(href);
      queue.push(href);
    }
  } catch {
    errors += 1;
  }
}

const startedAt = performance.now();
const idle = [];
for (let count = 0; count < Number(concurrency); count++) idle.push(await context.newPage());
await new Promise((resolve) => {
  let underWay = 0;
  const next = () => {
    while (queue.length > 0 && idle.length > 0) {
      const page = idle.pop();
      underWay += 1;
      void show(page, queue.pop()).then(() => {
        underWay -= 1;
        idle.push(page);
        next();
      });
    }
    if (underWay === 0) resolve();
  };
  next();
});
const seconds = (performance.now() - startedAt) / 1_000;
await browser.close();
process.stdout.write(`${JSON.stringify({ pages, errors, seconds, chars })}\n`);
