import { writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { serve } from '../../src/fetch/http/loopback.fixture.ts';
import { endCommands, readPages, runCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
afterAll(async () => {
  await endCommands();
  folder.remove();
});

const HTML: Readonly<Record<string, string>> = {
  '/': '<title>Home</title><a href="/blog/a">a</a> <a href="/x/blog/b">b</a> <a href="/list">list</a>',
  '/blog/a': '<title>A</title>',
  '/x/blog/b': '<title>B</title>',
  '/list': '<title>List</title><a href="/item">item</a>',
  '/item': '<title>Item</title><h1>Head</h1>',
};

/** A small site with tags, and the requests that it received. */
async function site() {
  const heard: string[] = [];
  const { origin } = await serve((request: IncomingMessage, response: ServerResponse) => {
    const { url: path = '' } = request;
    const html = HTML[path];
    if (html === undefined) return void response.writeHead(404).end();
    const tag = `"${path}"`;
    const isKnown = request.headers['if-none-match'] === tag;
    heard.push(isKnown ? `${path} 304` : path);
    response
      .writeHead(isKnown ? 304 : 200, { etag: tag, 'content-type': 'text/html' })
      .end(isKnown ? '' : html);
  });
  return { origin, heard };
}
const pathsIn = (name: string) =>
  readPages(folder.path(name))
    .map(({ url }) => new URL(url).pathname)
    .sort();

async function crawl(origin: string, name: string, ...more: readonly string[]) {
  const args = [
    'crawl',
    `${origin}/`,
    '--out',
    folder.path(name),
    '--allow-private',
    '--sitemap',
    'skip',
    '--quiet',
  ];
  return runCommand([...args, '--rate', 'unlimited', ...more]);
}

describe('crawl', () => {
  it('takes patterns that match the whole path, as the API does', async () => {
    const { origin } = await site();
    await crawl(origin, 'glob', '--include', '/blog/*');
    expect(pathsIn('glob')).toEqual(['/', '/blog/a']);
    await crawl(origin, 'regex', '--include', 're:/blog/');
    expect(pathsIn('regex')).toEqual(['/', '/blog/a', '/x/blog/b']);
  });

  it('takes routes from a file', async () => {
    const { origin } = await site();
    const file = folder.path('routes.yaml');
    writeFileSync(
      file,
      '- { match: /list, keep: false }\n- match: /item\n  options: { extract: { rules: { head: h1 } } }\n',
    );
    expect((await crawl(origin, 'routes', '--routes', file)).exitCode).toBe(0);
    expect(pathsIn('routes')).toEqual(['/', '/blog/a', '/item', '/x/blog/b']);
    const item = readPages(folder.path('routes')).find(({ url }) => url.endsWith('/item'));
    expect(item).toMatchObject({ extracted: { head: 'Head' } });
    writeFileSync(file, '- { match: blog }\n');
    const { exitCode, stderr } = await crawl(origin, 'wrong', '--routes', file);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/^error INVALID_USAGE: --routes: A pattern is a glob .*`re:blog`/);
  });

  it('asks for pages of a finished folder only if they changed', async () => {
    const { origin, heard } = await site();
    await crawl(origin, 'again');
    const before = pathsIn('again');
    expect((await crawl(origin, 'again')).stderr).toContain('--if-modified');
    heard.length = 0;
    const { exitCode } = await crawl(origin, 'again', '--if-modified');
    expect(exitCode).toBe(0);
    expect(heard.sort()).toEqual(before.map((path) => `${path} 304`));
    expect(pathsIn('again')).toEqual(before);
    expect(readPages(folder.path('again')).every((page) => 'notModified' in page)).toBe(true);
  });
});

describe('scrape', () => {
  it('takes a page that the data folder has stored within --max-age', async () => {
    const { origin, heard } = await site();
    const env = { SCRAPIFIE_DATA_DIR: folder.path('data') };
    const args = ['scrape', `${origin}/item`, '--allow-private', '--max-age', '1h', '--json'];
    const first = JSON.parse((await runCommand(args, { env })).stdout);
    const second = JSON.parse((await runCommand([...args, '--format', 'markdown'], { env })).stdout);
    expect([first.cache.hit, second.cache]).toEqual([false, { hit: true, storedAt: first.fetchedAt }]);
    expect(second.markdown).toContain('Head');
    expect(heard).toEqual(['/item']);
  });
});
