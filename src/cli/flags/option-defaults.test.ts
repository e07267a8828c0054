import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { Command, Option } from 'commander';
import { afterAll, beforeEach, expect, it } from 'vitest';
import { trustFolder } from '../../core/config/folder-trust.ts';
import type { Shell } from '../shell/shell.ts';
import { FLAGS } from './flags.ts';
import { applyDefaults } from './option-defaults.ts';

const cwd = mkdtempSync(join(tmpdir(), 'scrapifie-defaults-test-'));
const path = join(cwd, 'scrapifie.yaml');
beforeEach(() => {
  rmSync(path, { force: true });
  rmSync(join(cwd, 'settings'), { recursive: true, force: true });
});
afterAll(() => rmSync(cwd, { recursive: true, force: true }));

/** The user of these tests has trusted nothing but what a test trusts. */
const home = { XDG_CONFIG_HOME: join(cwd, 'settings') };

/** The options of a command as it sees them, typed in a folder with this file, which is trusted. */
function optionsOf(text: string | null, argv: readonly string[] = [], given: NodeJS.ProcessEnv = {}) {
  if (text !== null) writeFileSync(path, text);
  trustFolder(cwd, home);
  return optionsIn(argv, given).options;
}

function optionsIn(argv: readonly string[], given: NodeJS.ProcessEnv = {}, config?: string) {
  const environment = { ...home, ...given };
  let told = '';
  const stderr = new Writable({
    write(chunk: Buffer, _encoding, done) {
      told += chunk;
      done();
    },
  });
  const program = new Command('scrapifie').exitOverride();
  const crawl = program.command('crawl').action(() => undefined);
  for (const flag of ['maxPages', 'include', 'noRobots', 'viewport', 'header', 'engine', 'apiKey'] as const) {
    crawl.addOption(FLAGS[flag]());
  }
  for (const flag of ['dataDir', 'api', 'allowPrivate', 'subdomains'] as const)
    crawl.addOption(FLAGS[flag]());
  crawl.addOption(FLAGS.json()).addOption(new Option('--csv').conflicts('json'));
  program.hook('preAction', (_, action) =>
    applyDefaults(action, { cwd, environment, stderr } as unknown as Shell, config, [
      'crawl',
      'scrape',
      'jobs',
    ]),
  );
  program.parse(['crawl', ...argv], { from: 'user' });
  return { options: crawl.opts(), told };
}

it('a folder without the file, and a file of comments, change nothing', () => {
  const plain = optionsOf(null);
  expect(optionsOf('# nothing yet\n')).toEqual(plain);
  expect(plain).toEqual({ robots: true });
});

it('options have the values of the file, parsed as if they were typed', () => {
  const text = `crawl:
  max-pages: 500
  include: ["/blog/*", "/news/*"]
  no-robots: true
  allow-private: false
  viewport: 800x600
  header: "A: b"
scrape: { format: markdown }
jobs list: { limit: 3 }
`;
  expect(optionsOf(text)).toEqual({
    maxPages: 500,
    include: ['/blog/*', '/news/*'],
    robots: false,
    viewport: { width: 800, height: 600 },
    header: { A: 'b' },
  });
});

it('what is typed goes before the file, and replaces its lists', () => {
  const text = 'crawl: { max-pages: 500, include: ["/blog/*"], csv: true, data-dir: ./data }\n';
  const typed = ['--max-pages', '7', '--include', '/x', '--json', '--api', 'http://127.0.0.1:1'];
  expect(optionsOf(text, typed)).toEqual({
    maxPages: 7,
    include: ['/x'],
    json: true,
    api: 'http://127.0.0.1:1',
    robots: true,
  });
});

it('the environment and .env go before the file', () => {
  const text = 'crawl: { api: "http://127.0.0.1:1", allow-private: true, max-pages: 5 }\n';
  const environment = { SCRAPIFIE_API_URL: 'http://127.0.0.1:2', SCRAPIFIE_ALLOW_PRIVATE: 'false' };
  expect(optionsOf(text, [], environment)).toEqual({ maxPages: 5, robots: true });
  writeFileSync(join(cwd, '.env'), 'SCRAPIFIE_API_URL=http://127.0.0.1:2\n');
  expect(optionsOf(text)).toEqual({ maxPages: 5, allowPrivate: true, robots: true });
  rmSync(join(cwd, '.env'));
});

it('a file that was not trusted, or has changed since, changes nothing and is told; one that --config names counts', () => {
  const plain = optionsOf(null);
  writeFileSync(path, 'crawl: { api: "http://127.0.0.1:1", allow-private: true }\n');
  const untrusted = optionsIn([]);
  expect(untrusted.options).toEqual(plain);
  expect(untrusted.told).toBe(
    `Defaults of options are ignored: ${path} is not trusted yet; read it, and run "scrapifie trust ${cwd}" if it may.\n`,
  );
  expect(optionsIn([], {}, path).options).toMatchObject({ api: 'http://127.0.0.1:1', allowPrivate: true });
  trustFolder(cwd, home);
  expect(optionsIn([]).options).toMatchObject({ api: 'http://127.0.0.1:1', allowPrivate: true });
  writeFileSync(path, 'crawl: { api: "http://127.0.0.1:2" }\n');
  const changed = optionsIn([]);
  expect(changed.options).toEqual(plain);
  expect(changed.told).toContain('has changed since it was trusted');
});

it('every problem is told with its line', () => {
  const text = `crwl: {}
crawl:
  max-page: 5
  max-pages: many
  viewport: [800x600, 900x700]
  no-robots: "yes"
  engine: fast
  include: { a: 1 }
  api-key: secret
  subdomains: true
`;
  const told = (): string => {
    try {
      optionsOf(text);
    } catch (error) {
      return (error as Error).message;
    }
    return '';
  };
  expect(told().replaceAll(path, 'FILE').split('\n')).toEqual([
    'scrapifie.yaml has 9 problems:',
    '  FILE:1: "crwl" is no command; did you mean "crawl"?',
    '  FILE:3: max-page is no option of "crawl"; did you mean max-pages?',
    '  FILE:4: max-pages: It must be a whole number.',
    '  FILE:5: viewport: It takes one value, not a list.',
    '  FILE:6: no-robots: It must be true or false.',
    expect.stringContaining('  FILE:7: engine: Allowed choices are auto, http,'),
    '  FILE:8: include: It must be a text or a number, or a list of them.',
    '  FILE:9: api-key is a secret: put it into the environment or .env as SCRAPIFIE_API_KEY',
    expect.stringContaining('  FILE:10: subdomains is no option of "crawl"'),
  ]);
});

it('a file that is no YAML, or holds no commands, is refused', () => {
  expect(() => optionsOf('crawl: [\n')).toThrow(/scrapifie\.yaml:\d+: /);
  expect(() => optionsOf('- crawl\n')).toThrow('The file must hold names of commands with their options.');
  expect(() => optionsOf('crawl: 5\n')).toThrow('"crawl" must hold options');
});
