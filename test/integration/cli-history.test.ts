import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { serve } from '../../src/fetch/http/loopback.fixture.ts';
import { endCommands, runCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
afterAll(async () => {
  await endCommands();
  folder.remove();
});

const LONG = 'Text that makes a page of it, and says something about what is for sale here today. '.repeat(4);
const page = (title: string, text: string) =>
  `<html><head><title>${title}</title></head><body><h1>${title}</h1><p>${text} ${LONG}</p>
   <form><input type="hidden" name="csrf" value="${Math.random()}"></form><a href="/hat">hat</a> <a href="/cap">cap</a></body></html>`;

/** A shop whose pages carry a new token each time. `hat` is what the page about the hat says, or how it fails. */
async function shop() {
  const state = { hat: 'It costs 19 EUR.', status: 200, etag: null as string | null };
  const { origin } = await serve((request: IncomingMessage, response: ServerResponse) => {
    const type = { 'content-type': 'text/html' };
    if (request.url === '/') return void response.writeHead(200, type).end(page('Shop', 'Welcome.'));
    if (request.url === '/cap') {
      const isKnown = request.headers['if-none-match'] === '"cap"';
      const head = { ...type, etag: '"cap"' };
      return void response.writeHead(isKnown ? 304 : 200, head).end(isKnown ? '' : page('Cap', 'A cap.'));
    }
    if (request.url !== '/hat') return void response.writeHead(404).end();
    response.writeHead(state.status, type).end(page('Hat', state.hat));
  });
  return { origin, state };
}

const out = folder.path('shop');

async function crawl(origin: string, ...more: readonly string[]) {
  const flags = ['--out', out, '--allow-private', '--sitemap', 'skip', '--quiet', '--rate', 'unlimited'];
  return runCommand(['crawl', `${origin}/`, ...flags, '--snapshots', '--max-attempts', '1', ...more]);
}

async function history(url: string, ...more: readonly string[]) {
  const { stdout, exitCode } = await runCommand(['history', url, '--data-dir', out, '--json', ...more]);
  expect(exitCode).toBe(0);
  return stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as { hash: string; timesSeen: number; title: string; id: string });
}

describe('history', () => {
  it('has each content of a page once, over several crawls, and no error page', async () => {
    const { origin, state } = await shop();
    expect((await crawl(origin)).exitCode).toBe(0);
    state.hat = 'It costs 91 EUR.';
    await crawl(origin, '--if-modified');
    state.status = 500;
    await crawl(origin, '--if-modified');
    Object.assign(state, { status: 200, hat: 'It costs 19 EUR.' });
    await crawl(origin, '--if-modified');
    const hat = await history(`${origin}/hat`);
    expect(hat.map(({ timesSeen }) => timesSeen)).toEqual([2, 1]);
    const seen = await history(`${origin}/hat`, '--sightings');
    expect(seen.map(({ hash }) => hash)).toEqual([hat[0]?.hash, hat[1]?.hash, hat[0]?.hash]);
    // The price has changed back: the last change is the one to the current price.
    const change = await runCommand(['diff', `${origin}/hat`, '--data-dir', out]);
    expect(change.stdout).toContain('[-91-]{+19+}');
    // Not modified, or with another token only: a sighting each.
    for (const path of ['/', '/cap']) {
      expect((await history(`${origin}${path}`)).map(({ timesSeen }) => timesSeen)).toEqual([4]);
    }
    const { stdout } = await runCommand(['history', `${origin}/hat`, '--data-dir', out]);
    expect(stdout).toMatch(/SNAPSHOT +FIRST SEEN[\s\S]*snap_[0-9a-f]{32}.*Hat/);
    expect((await runCommand(['history', `${origin}/none`, '--data-dir', out])).stdout).toContain(
      'no history',
    );
    expect((await runCommand(['history', 'ftp://x', '--data-dir', out])).exitCode).toBe(2);
  });
});
