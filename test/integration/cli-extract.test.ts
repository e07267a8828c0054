import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PROGRAM } from '../program.ts';
import { type Site, startSite } from '../site/site.ts';
import { endCommands, readPages, runCommand, temporaryFolder } from './cli-command.ts';

const KETTLE = '/shop/product/tern-kettle';
const RULES = 'title: h1\nprice:\n  css: .two .price\n  type: number\n';
const folder = temporaryFolder();
let site: Site;
let kettle: string;
beforeAll(async () => {
  site = await startSite({ pages: 20, log: 'full' });
  kettle = await (await fetch(site.url + KETTLE)).text();
  writeFileSync(folder.path('kettle.html'), kettle);
  writeFileSync(folder.path('rules.yaml'), RULES);
  writeFileSync(folder.path('schema.json'), '{"properties":{"price":{"maximum":50}}}');
});
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
});

const here = () => ({ cwd: folder.path('.') });

describe('scrape', () => {
  const scrape = (...more: string[]) =>
    runCommand(['scrape', site.url + KETTLE, '--allow-private', ...more], here());

  it('prints Markdown as it is', async () => {
    const { exitCode, stdout } = await scrape('--format', 'markdown');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/sings in a major third/);
    expect(stdout).not.toContain('<p');
    expect(stdout).not.toMatch(/^\{/);
  });

  it('prints the whole page, or the elements that are named', async () => {
    const whole = await scrape('--format', 'markdown', '--no-only-main-content');
    expect(whole.exitCode).toBe(0);
    const main = await scrape('--format', 'markdown');
    expect(whole.stdout.length).toBeGreaterThan(main.stdout.length);
    const heading = await scrape('--format', 'text', '--include-tags', 'h1');
    expect(heading.stdout.trim()).toBe('Tern Kettle');
    const without = await scrape('--format', 'text', '--include-tags', 'h1', '--exclude-tags', 'h1');
    expect(without.stdout.trim()).toBe('');
    const wrong = await scrape('--exclude-tags', 'div > [');
    expect(wrong.exitCode).toBe(2);
    expect(wrong.stderr).toContain('--exclude-tags');
  });

  it('reads a page as a thing of a type, and by rules', async () => {
    const { exitCode, stdout } = await scrape(
      ...['--extract', 'product', '--rules', 'rules.yaml', '--schema', 'schema.json', '--format', 'text'],
    );
    expect(exitCode).toBe(0);
    const page = JSON.parse(stdout);
    expect(page).toMatchObject({
      extractedType: 'product',
      extracted: {
        name: 'Tern Kettle',
        currency: 'EUR',
        availability: 'InStock',
        title: 'Tern Kettle',
        price: 64.9,
      },
      extractProblems: [expect.objectContaining({ path: 'price' })],
    });
  });

  it.each([
    [
      'title: h1\nprice:\n  csss: .price\n',
      [/^error INVALID_USAGE: --rules: \S+wrong\.yaml:3: price\.csss: /],
    ],
    [
      'title: h1\nprice:\n  css: "p >> b"\n  type: number\nwhen: "regex:("\n',
      [/wrong\.yaml:3: price\.css: column \d+: /, /wrong\.yaml:5: when: /],
    ],
    ['title: [', [/--rules: \S+wrong\.yaml:\d+: /]],
    ['- h1\n', [/--rules: \S+wrong\.yaml:1: /]],
  ])('refuses the rules %j with file, line and place, and asks nobody', async (rules, told) => {
    writeFileSync(folder.path('wrong.yaml'), rules);
    const before = site.log.length;
    const { exitCode, stdout, stderr } = await scrape('--rules', 'wrong.yaml');
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    for (const line of told) expect(stderr).toMatch(line);
    expect(site.log.length).toBe(before);
  });

  it.each([
    [['--extract', 'hat'], /--extract.*product/],
    [['--rules', 'nowhere.yaml'], /--rules: \S+nowhere\.yaml cannot be read/],
    [['--schema', 'schema.json'], /--schema: .*type.*rules/],
    [['--extract', 'product', '--schema', 'schema.json'], /--schema: A schema needs `rules`/],
  ])('refuses %j', async (args, told) => {
    const { exitCode, stderr } = await scrape(...args);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(told);
  });
});

describe('extract', () => {
  const url = 'https://shop.example/tern-kettle';

  it('reads a file without fetching, and makes no folder', async () => {
    const before = site.log.length;
    const args = ['extract', 'kettle.html', '--url', url];
    const { exitCode, stdout, stderr } = await runCommand([...args, '--extract', 'auto'], here());
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const page = JSON.parse(stdout);
    expect(page).toMatchObject({
      url,
      statusCode: null,
      extractedType: 'product',
      extracted: { name: 'Tern Kettle' },
    });
    expect(page.links[0].url).toMatch(/^https:\/\/shop\.example\//);
    const markdown = await runCommand([...args, '--format', 'markdown'], here());
    expect(markdown.stdout).toContain('sings in a major third');
    const heading = await runCommand([...args, '--format', 'text', '--include-tags', 'h1'], here());
    expect(heading.stdout.trim()).toBe('Tern Kettle');
    expect(site.log.length).toBe(before);
    expect(existsSync(folder.path('data'))).toBe(false);
  });

  it('reads standard input, whatever it is', async () => {
    const args = [
      'extract',
      '-',
      '--url',
      'https://api.example/',
      '--rules',
      'json.yaml',
      '--format',
      'text',
    ];
    writeFileSync(folder.path('json.yaml'), 'first: "jsonpath:$.items[0].sku"\n');
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', PROGRAM, ...args], {
      cwd: folder.path('.'),
      env: { PATH: process.env.PATH ?? '' },
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end('{"items":[{"sku":"A1"}]}');
    expect(JSON.parse(await text(child.stdout)).extracted).toEqual({ first: 'A1' });
  });

  it('reads UTF-16 without a mark', async () => {
    writeFileSync(folder.path('wide.html'), Buffer.from(kettle, 'utf16le'));
    const { stdout } = await runCommand(
      ['extract', 'wide.html', '--url', url, '--rules', 'rules.yaml'],
      here(),
    );
    expect(JSON.parse(stdout).extracted).toEqual({ title: 'Tern Kettle', price: 64.9 });
  });

  it('says what is wrong', async () => {
    const gone = await runCommand(['extract', 'gone.html', '--url', url], here());
    expect(gone.stderr).toMatch(/^error INVALID_USAGE: \S+gone\.html cannot be read/);
    const place = await runCommand(['extract', 'kettle.html', '--url', 'ftp://x'], here());
    expect(place.stderr).toMatch(/^error INVALID_URL: /);
    expect([gone.exitCode, place.exitCode]).toEqual([2, 2]);
  });
});

describe('a crawl', () => {
  const crawl = (...more: string[]) =>
    runCommand(
      [
        ...[
          'crawl',
          `${site.url}/shop/`,
          '--include',
          '/shop/product/*',
          '--include',
          '/shop/',
          '--sitemap',
          'skip',
        ],
        ...['--allow-private', '--rate', 'unlimited', '--out', 'shop', '--quiet', ...more],
      ],
      here(),
    );

  it('writes what was read out of each page', async () => {
    const { exitCode } = await crawl('--extract', 'product', '--format', 'markdown');
    expect(exitCode).toBe(0);
    const line = readPages(folder.path('shop')).find(({ url }) => url.endsWith(KETTLE));
    expect(line).toMatchObject({
      extracted: { name: 'Tern Kettle', price: 64.9 },
      extractedBy: { name: { confidence: expect.any(Number) } },
      markdown: expect.stringContaining('sings in a major third'),
    });
    const csv = await runCommand(['export', 'latest', '--data-dir', 'shop', '--format', 'csv'], here());
    expect(csv.stdout.split('\n', 1)[0]).toContain('extracted.name');
    expect(csv.stdout).toMatch(/,product,.*Tern Kettle/);
  });

  it('goes on only with what it was begun with', async () => {
    const { exitCode, stderr } = await crawl('--resume', '--extract', 'article');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('another value for --extract: "product"');
  });

  it('is read once more without a request', async () => {
    const pages = readPages(folder.path('shop'));
    const before = site.log.length;
    const args = [
      'reextract',
      'latest',
      '--data-dir',
      'shop',
      '--rules',
      'rules.yaml',
      '--out',
      'found.ndjson',
    ];
    const { exitCode, stdout } = await runCommand(args, here());
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: '' });
    const found = readFileSync(folder.path('found.ndjson'), 'utf8')
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(found.map(({ url }) => url)).toEqual(pages.map(({ url }) => url));
    expect(found.find(({ url }) => url.endsWith(KETTLE)).extracted).toEqual({
      title: 'Tern Kettle',
      price: 64.9,
    });
    expect(site.log.length).toBe(before);
  });

  it('cannot be read for nothing', async () => {
    const { exitCode, stderr } = await runCommand(['reextract', 'latest', '--data-dir', 'shop'], here());
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/--rules, --extract or --format/);
  });
});
