import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { endCommands, runCommand, temporaryFolder } from './cli-command.ts';

const folder = temporaryFolder();
let site: Site;
beforeAll(async () => {
  site = await startSite({ pages: 40, log: 'full' });
});
afterAll(async () => {
  await endCommands();
  await site.close();
  folder.remove();
});

describe('the command line', () => {
  it('says its version', async () => {
    const { exitCode, stdout } = await runCommand(['--version']);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  });

  it.each([
    [['scrap', 'https://example.com'], /unknown command 'scrap' \(Did you mean scrape\?\)/],
    [
      ['crawl', 'https://example.com', '--max-page', '3'],
      /unknown option '--max-page' \(Did you mean --max-pages\?\)/,
    ],
    [['crawl', 'https://example.com', '--max-pages', 'many'], /--max-pages.*whole number/],
    [['crawl', 'https://example.com', '--max-pages', '0'], /--max-pages: must be 1 or more; null \(`none`/],
    [['crawl', 'https://example.com', '--include', '/p/\\d+$'], /--include: .*begins with `re:`/],
    [['crawl', 'https://example.com', '--rate', '0'], /--rate.*requests per second/],
    [['scrape', 'https://example.com', '--format', 'doc'], /--format.*one or more of html/],
    [['scrape', 'https://example.com', '--timeout', '5'], /--timeout: /],
    [['scrape'], /missing required argument 'url'/],
    [
      ['scrape', 'https://example.com', '--screenshot', 'x.gif'],
      /pictures are PNG or JPEG.*End it in \.png or \.jpg/,
    ],
    [['crawl'], /--out must name the folder/],
    [['serve', '--port', 'x'], /--port.*port number/],
  ])('answers %j with what is wrong', async (args, message) => {
    const { exitCode, stdout, stderr } = await runCommand(args, { cwd: folder.path('.') });
    expect(stderr).toMatch(/^error INVALID_USAGE: [^\n]+\n$/);
    expect(stderr).toMatch(message);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
  });

  it('shows help when nothing was asked for, and counts that as wrong', async () => {
    const { exitCode, stdout, stderr } = await runCommand([]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('Usage: scrapifie');
  });

  it('shows the options of a command with examples', async () => {
    for (const args of [
      ['crawl', '--help'],
      ['help', 'crawl'],
    ]) {
      const { exitCode, stdout } = await runCommand(args);
      expect(exitCode).toBe(0);
      expect(stdout).toContain('--max-pages <n>');
      expect(stdout).toContain('Examples:');
    }
  });

  it('lists every wrong setting', async () => {
    const env = { SCRAPIFIE_LOGLEVEL: 'x', SCRAPIFIE_PORT: 'y' };
    const { exitCode, stderr } = await runCommand(['jobs', 'list'], { env });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^error INVALID_SETTINGS: 2 settings are wrong:\n/);
    expect(stderr).toContain('did you mean SCRAPIFIE_LOG_LEVEL?');
  });
});

describe('scrape', () => {
  it('prints what the API would answer, and leaves nothing behind', async () => {
    mkdirSync(folder.path('tmp'));
    const env = { TMPDIR: folder.path('tmp') };
    const { exitCode, stdout, stderr } = await runCommand(
      ['scrape', `${site.url}/big/7`, '--allow-private'],
      { env },
    );
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const page = JSON.parse(stdout);
    expect(page).toMatchObject({ url: `${site.url}/big/7`, statusCode: 200, trace: { decision: 'fetched' } });
    expect(page.metadata.title).toBe(page.title);
    expect(page.links.length).toBeGreaterThan(10);
    expect(page.text).not.toBe('');
    expect(page).not.toHaveProperty('html');
    expect(readdirSync(folder.path('tmp'))).toEqual([]);
  });

  it('prints a single text as it is', async () => {
    const args = ['scrape', `${site.url}/big/7`, '--allow-private', '--format'];
    const raw = await runCommand([...args, 'rawHtml']);
    expect(raw.stdout).toMatch(/^<!doctype html>/i);
    const json = await runCommand([...args, 'rawHtml', '--json']);
    expect(JSON.parse(json.stdout).rawHtml.trim()).toBe(raw.stdout.trim());
  });

  it('sends the headers it is given, another name for itself included', async () => {
    const { exitCode } = await runCommand([
      ...['scrape', `${site.url}/big/11`, '--allow-private'],
      ...['--header', 'X-One: 1: a', '--header', 'User-Agent: somebody/2'],
    ]);
    expect(exitCode).toBe(0);
    const asked = site.log.find(({ path }) => path === '/big/11');
    expect(asked?.headers).toMatchObject({ 'x-one': '1: a', 'user-agent': 'somebody/2' });
  });

  it('tells a page that is an error by its exit code, and shows it all the same', async () => {
    const { exitCode, stdout, stderr } = await runCommand([
      'scrape',
      `${site.url}/nowhere`,
      '--allow-private',
    ]);
    expect(exitCode).toBe(4);
    expect(JSON.parse(stdout)).toMatchObject({ statusCode: 404, error: { code: 'HTTP_ERROR' } });
    expect(stderr).toBe('error HTTP_ERROR: The host answered 404.\n');
  });

  it.each([
    ['a private address', () => [`${site.url}/big/7`], 'ADDRESS_REFUSED', 4],
    [
      'a page that robots.txt forbids',
      () => [site.urlOf('robots-all', '/'), '--allow-private'],
      'ROBOTS_DISALLOWED',
      4,
    ],
    ['what is no URL', () => ['nonsense'], 'INVALID_URL', 2],
    [
      'an engine that is not there',
      () => ['https://example.com', '--engine', 'flaresolverr'],
      'UNSUPPORTED_OPTION',
      2,
    ],
    [
      'an answer that does not come',
      () => [`${site.url}/slow/no-head`, '--allow-private', '--timeout', '1s'],
      'REQUEST_TIMEOUT',
      4,
    ],
  ])('refuses or gives up on %s', async (_, args, code, expected) => {
    const { exitCode, stdout, stderr } = await runCommand(['scrape', ...args()]);
    expect(stderr).toMatch(new RegExp(`^error ${code}: `));
    expect(stderr).not.toMatch(/\n\s+at /);
    expect({ exitCode, stdout }).toEqual({ exitCode: expected, stdout: '' });
  });

  it('ignores robots.txt when the person says so', async () => {
    const args = ['scrape', site.urlOf('robots-all', '/'), '--allow-private', '--no-robots'];
    expect((await runCommand(args)).exitCode).toBe(0);
  });
});

describe('map', () => {
  it('prints one URL per line', async () => {
    const { exitCode, stdout } = await runCommand([
      'map',
      `${site.url}/big/`,
      '--allow-private',
      '--sitemap',
      'skip',
    ]);
    expect(exitCode).toBe(0);
    const urls = stdout.trim().split('\n');
    expect(urls).toContain(`${site.url}/big/1`);
    expect(new Set(urls).size).toBe(urls.length);
  });

  it('prints JSON', async () => {
    const args = [
      'map',
      `${site.url}/big/`,
      '--allow-private',
      '--sitemap',
      'skip',
      '--limit',
      '5',
      '--json',
    ];
    const { stdout, stderr } = await runCommand(args);
    expect(JSON.parse(stdout)).toMatchObject({ isTruncated: true });
    expect(JSON.parse(stdout).urls).toHaveLength(5);
    expect(stderr).toContain('first 5');
  });
});

describe('policy', () => {
  it('names the line of every problem', async () => {
    writeFileSync(folder.path('bad.yaml'), 'default:\n  rate: -1\ndomains:\n  example.com:\n    speed: 1\n');
    const { exitCode, stderr } = await runCommand(['policy', 'check', 'bad.yaml'], { cwd: folder.path('.') });
    expect(exitCode).toBe(5);
    expect(stderr).toMatch(/^error INVALID_POLICY: The policy file has 2 problems\.\n/);
    expect(stderr).toContain('bad.yaml:2: default.rate ');
    expect(stderr).toContain('bad.yaml:5: domains.example.com.speed ');
  });

  it('finds nothing wrong with the one that ships', async () => {
    expect((await runCommand(['policy', 'check'])).exitCode).toBe(0);
  });

  it('shows what holds for a host, and why', async () => {
    writeFileSync(
      folder.path('own.yaml'),
      'domains:\n  example.com: { rate: 7 }\ndenyList: [bad.example.com]\n',
    );
    const env = { SCRAPIFIE_POLICY_FILE: folder.path('own.yaml') };
    const args = ['policy', 'show', 'https://bad.example.com/x', '--json'];
    const { stdout } = await runCommand(args, { env, cwd: folder.path('.') });
    expect(JSON.parse(stdout)).toMatchObject({
      host: 'bad.example.com',
      denied: 'policy.deny-list:bad.example.com',
      ratePerSecond: 7,
      matched: ['default', 'example.com'],
    });
  });
});

describe('keys', () => {
  it('are made, listed without their secret, and revoked', async () => {
    const at = ['--data-dir', folder.path('keys')];
    const made = await runCommand([
      'keys',
      'create',
      'nightly',
      '--scope',
      'read,admin',
      '--expires',
      '2d',
      ...at,
    ]);
    expect(made.stdout).toMatch(/^sk_\S{40,}\n$/);
    const listed = await runCommand(['keys', 'list', '--json', ...at]);
    expect(listed.stdout).not.toContain(made.stdout.trim());
    const key = JSON.parse(listed.stdout);
    expect(key).toMatchObject({ name: 'nightly', scopes: ['read', 'admin'], revokedAt: null });
    const lifeMs = Date.parse(key.expiresAt) - Date.parse(key.createdAt);
    // The command counts from when it begins, a moment before the key is made.
    expect(2 * 86_400_000 - lifeMs).toBeGreaterThanOrEqual(0);
    expect(2 * 86_400_000 - lifeMs).toBeLessThan(60_000);
    expect((await runCommand(['keys', 'revoke', key.id, ...at])).exitCode).toBe(0);
    const again = await runCommand(['keys', 'revoke', key.id, ...at]);
    expect(again.exitCode).toBe(2);
    expect(again.stderr).toMatch(/^error NOT_FOUND: /);
  });

  it('that would last beyond the year 9999 are refused as a mistake of the command', async () => {
    const at = ['--data-dir', folder.path('endless')];
    const refused = await runCommand(['keys', 'create', 'long', '--expires', '100000000d', ...at]);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toMatch(/^error INVALID_USAGE: .*9999/);
  });

  it('that could never be used, or faster than the API allows, are refused alike', async () => {
    const at = ['--data-dir', folder.path('no-rate')];
    for (const rate of ['0', '100000001']) {
      const refused = await runCommand(['keys', 'create', 'dead', '--rate', rate, ...at]);
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
      expect(refused.stderr).toMatch(/^error INVALID_USAGE: .*between 1 and 100000000/);
    }
    const made = await runCommand(['keys', 'create', 'slow', '--rate', '1', '--json', ...at]);
    expect(JSON.parse(made.stdout)).toMatchObject({ ratePerMinute: 1 });
  });
});

describe('doctor', () => {
  it('finds nothing wrong where nothing is, and changes nothing', async () => {
    const dataDir = folder.path('healthy/data');
    const { exitCode, stdout } = await runCommand([
      'doctor',
      '--json',
      '--no-scrape',
      '--port',
      '0',
      '--data-dir',
      dataDir,
    ]);
    expect(exitCode).toBe(0);
    const findings = JSON.parse(stdout) as { check: string; state: string }[];
    expect(findings.filter(({ state }) => state === 'fail')).toEqual([]);
    expect(findings.map(({ check }) => check)).toContain('open files');
    expect(existsSync(folder.path('healthy'))).toBe(false);
  });

  it('finds a database that is damaged, and leaves it as it is', async () => {
    mkdirSync(folder.path('ill'));
    writeFileSync(folder.path('ill/scrapifie.db'), 'not a database'.repeat(1_000));
    const args = ['doctor', '--no-scrape', '--port', '0', '--data-dir', folder.path('ill')];
    const { exitCode, stdout } = await runCommand(args);
    expect(exitCode).toBe(5);
    expect(stdout).toMatch(/FAIL\s+database\s+DATABASE_CORRUPT/);
    expect(readFileSync(folder.path('ill/scrapifie.db'), 'utf8')).toBe('not a database'.repeat(1_000));
  });

  it('finds a proxy file that is missing or wrong', async () => {
    writeFileSync(folder.path('proxies.yaml'), 'providers: [{ name: one, tier: gold }]\n');
    for (const [file, problem] of [
      ['missing.yaml', 'cannot be read'],
      ['proxies.yaml', 'kind'],
    ] as const) {
      const env = { SCRAPIFIE_PROXY_FILE: folder.path(file) };
      const { exitCode, stdout } = await runCommand(['doctor', '--no-scrape', '--port', '0'], {
        cwd: folder.path('.'),
        env,
      });
      expect(exitCode).toBe(5);
      expect(stdout).toMatch(new RegExp(`FAIL\\s+proxy file\\s+INVALID_PROXY_FILE: .*${problem}`));
    }
  });

  it('finds a port that another program has', async () => {
    const { stdout } = await runCommand([
      'doctor',
      '--no-scrape',
      '--port',
      String(site.port),
      '--host',
      '127.0.0.1',
    ]);
    expect(stdout).toMatch(/FAIL\s+port\s+127\.0\.0\.1:\d+ is taken/);
  });
});

describe('commands on a data folder', () => {
  it('do not make one by looking', async () => {
    for (const args of [['jobs', 'list'], ['export', 'latest'], ['migrate'], ['credentials', 'list']]) {
      const { exitCode, stderr } = await runCommand([...args, '--data-dir', folder.path('typo')]);
      expect(exitCode).toBe(5);
      expect(stderr).toMatch(/^error DATA_DIR_UNUSABLE: .*typo has no database/);
    }
    expect(existsSync(folder.path('typo'))).toBe(false);
  });
});
