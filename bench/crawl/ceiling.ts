// The bare ceiling: what one thread of Node.js can fetch and parse when it stores nothing, obeys nothing and forgets
// everything but the URLs it has seen. usage: node ceiling.ts URL CONCURRENCY
import { Parser } from 'htmlparser2';
import { Pool } from 'undici';

const [, , start = '', concurrency = '64'] = process.argv;
const { origin } = new URL(start);
const pool = new Pool(origin, { connections: Number(concurrency) });
const seen = new Set([start]);
const queue = [start];
let pages = 0;
let errors = 0;
let titleChars = 0;

function read(html: string, base: string): void {
  let isTitle = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'title') isTitle = true;
      if (name !== 'a' || attributes.href === undefined) return;
      const url = new URL(attributes.href, base);
      url.hash = '';
      if (url.origin !== origin || seen.has(url.href)) return;
      seen.add(url.href);
      queue.push(url.href);
    },
    ontext(text) {
      if (isTitle) titleChars += text.length;
    },
    onclosetag(name) {
      if (name === 'title') isTitle = false;
    },
  });
  parser.end(html);
}

async function fetchOne(url: string): Promise<void> {
  try {
    const { statusCode, body } = await pool.request({ method: 'GET', path: url.slice(origin.length) });
    const html = await body.text();
    if (statusCode !== 200) errors += 1;
    else {
      read(html, url);
      pages += 1;
    }
  } catch {
    errors += 1;
  }
}

const startedAt = performance.now();
await new Promise<void>((resolve) => {
  let underWay = 0;
  const next = (): void => {
    while (underWay < Number(concurrency)) {
      const url = queue.pop();
      if (url === undefined) break;
      underWay += 1;
      void fetchOne(url).then(() => {
        underWay -= 1;
        next();
      });
    }
    if (underWay === 0) resolve();
  };
  next();
});
const seconds = (performance.now() - startedAt) / 1_000;
await pool.close();
process.stdout.write(`${JSON.stringify({ pages, errors, seconds, titleChars })}\n`);
