import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  noteDataFolder,
  readFolderFile,
  revokeTrust,
  trustedFiles,
  trustFolder,
  trustPath,
} from './folder-trust.ts';
import { type LoadOptions, loadSettings } from './load.ts';
import { type IgnoredSettings, isFromAnyFolder } from './setting-sources.ts';
import { environmentName, settingNames, settingsSchema } from './settings.ts';

const ROOT = join(import.meta.dirname, '../../..');
let cwd: string;
let home: { readonly XDG_CONFIG_HOME: string };
beforeEach(() => {
  cwd = realpathSync(mkdtempSync(join(tmpdir(), 'scrapifie-trust-')));
  home = { XDG_CONFIG_HOME: join(cwd, 'settings') };
});
afterEach(() => rmSync(cwd, { recursive: true }));

const dotEnv = (text: string): void => writeFileSync(join(cwd, '.env'), text);

function load(environment: NodeJS.ProcessEnv = {}, options: Partial<LoadOptions> = {}) {
  const ignored: IgnoredSettings[] = [];
  const onIgnored = (each: IgnoredSettings): void => void ignored.push(each);
  const settings = loadSettings({ ...home, ...environment }, { cwd, onIgnored, ...options });
  return { settings, ignored: ignored[0]?.variables ?? [] };
}

describe('what a folder has under the name of .env', () => {
  it('is not read without an end', () => {
    symlinkSync('/dev/zero', join(cwd, '.env'));
    expect(() => readFolderFile(cwd, '.env', home)).toThrow('not a regular file');
    expect(() => load()).toThrow('.env');
  });

  it('is refused when it is far larger than settings are', () => {
    dotEnv(`SCRAPIFIE_PORT=1111\n${'#'.repeat(1_100_000)}\n`);
    expect(() => readFolderFile(cwd, '.env', home)).toThrow('larger than');
  });
});

describe('a .env that nobody has trusted', () => {
  it('gives only settings that are declared to count from any folder, whatever else it sets', () => {
    const others = settingNames.filter((name) => !isFromAnyFolder(name)).map(environmentName);
    expect(others).toEqual(
      expect.arrayContaining(['SCRAPIFIE_PLUGINS', 'SCRAPIFIE_API_URL', 'SCRAPIFIE_BROWSER_PATH']),
    );
    const standard = ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_SERVICE_NAME'];
    const files = settingNames.map((name) => `${environmentName(name)}_FILE`);
    const unknown = ['SCRAPIFIE_NO_SUCH_SETTING'];
    const all = [...others, ...standard, ...files, ...unknown];
    dotEnv(all.map((name) => `${name}=./evil.mjs\n`).join(''));
    const { settings, ignored } = load();
    expect(settings).toEqual(
      loadSettings({}, { cwd: '/nowhere', overrides: { dataDir: join(cwd, 'data') } }),
    );
    expect([...ignored].sort()).toEqual(all.sort());
  });

  it('gives amounts and words of a list', () => {
    dotEnv('SCRAPIFIE_PORT=1111\nSCRAPIFIE_LOG_LEVEL=warn\nDATABASE_URL=x\n');
    const { settings, ignored } = load();
    expect(settings).toMatchObject({ port: 1111, logLevel: 'warn' });
    expect(ignored).toEqual([]);
  });

  it('says which of its settings are ignored, and what to do, but nothing of what the environment gives', () => {
    dotEnv('SCRAPIFIE_PLUGINS=./evil.mjs\nSCRAPIFIE_API_KEY=a-key-of-the-folder\nSCRAPIFIE_LLM_KEY=\n');
    const { ignored } = load({ SCRAPIFIE_API_KEY: 'the-key-of-the-environment' });
    expect(ignored).toEqual(['SCRAPIFIE_PLUGINS']);
  });

  it('ends the start of a server, which would have another database and other guards without it', () => {
    dotEnv('SCRAPIFIE_DATABASE_URL=postgres://127.0.0.1/x\n');
    expect(() => load({}, { isServing: true })).toThrow(
      `.env is not used: ${cwd}/.env is not trusted yet, and sets SCRAPIFIE_DATABASE_URL; read it, and run "scrapifie trust ${cwd}" if it may`,
    );
    dotEnv('SCRAPIFIE_PORT=1111\n');
    expect(load({}, { isServing: true }).settings.port).toBe(1111);
  });
});

it('a setting that counts from any folder is an amount, a switch or a word of a list, never a text', () => {
  for (const name of settingNames.filter(isFromAnyFolder)) {
    const schema = settingsSchema.shape[name];
    for (const text of ['./evil.mjs', 'http://127.0.0.1:1', '/etc/passwd', '*', '0.0.0.0/0']) {
      expect([name, schema.safeParse(text).success]).toEqual([name, false]);
    }
    // What is lowered or opened by a switch is never left to a stranger.
    expect(name).not.toMatch(/allow|private|secret|key|url|path|file|proxy|origin|trust|retention|days/i);
  }
});

describe('trust', () => {
  it('is in the content: what changes is to be trusted anew, and revoking ends it', () => {
    dotEnv('SCRAPIFIE_CONTACT=me@example.org\n');
    expect(load().settings.contact).toBeUndefined();
    trustFolder(cwd, home);
    expect(load().settings.contact).toBe('me@example.org');
    expect(trustedFiles(home)).toEqual([{ path: join(cwd, '.env'), state: 'trusted' }]);
    dotEnv('SCRAPIFIE_CONTACT=you@example.org\n');
    expect(load()).toMatchObject({ ignored: ['SCRAPIFIE_CONTACT'] });
    expect(trustedFiles(home)).toEqual([{ path: join(cwd, '.env'), state: 'changed' }]);
    trustFolder(cwd, home);
    expect(load().settings.contact).toBe('you@example.org');
    expect(revokeTrust(cwd, home)).toEqual([join(cwd, '.env')]);
    expect(load().settings.contact).toBeUndefined();
    expect(trustedFiles(home)).toEqual([]);
  });

  it('is kept in a file of the user alone', () => {
    dotEnv('SCRAPIFIE_CONTACT=me@example.org\n');
    trustFolder(cwd, home);
    expect(statSync(trustPath(home)).mode & 0o777).toBe(0o600);
    expect(readFileSync(trustPath(home), 'utf8')).not.toContain('example.org');
    // A list that all users may write says nothing.
    chmodSync(trustPath(home), 0o666);
    expect(load().settings.contact).toBeUndefined();
  });

  it('is refused to a file that every user can change, also when it was trusted before', () => {
    dotEnv('SCRAPIFIE_CONTACT=me@example.org\n');
    trustFolder(cwd, home);
    chmodSync(join(cwd, '.env'), 0o666);
    expect(load()).toMatchObject({ ignored: ['SCRAPIFIE_CONTACT'] });
    expect(trustFolder(cwd, home)).toMatchObject([{ distrust: 'open to all' }]);
  });

  it.skipIf(process.getuid?.() !== 0)('is refused to a file of another user', () => {
    dotEnv('SCRAPIFIE_CONTACT=me@example.org\n');
    trustFolder(cwd, home);
    chownSync(join(cwd, '.env'), 54_321, 54_321);
    expect(load()).toMatchObject({ ignored: ['SCRAPIFIE_CONTACT'] });
    expect(trustFolder(cwd, home)).toMatchObject([{ distrust: 'of another user' }]);
  });

  it('is given to the folder of the program, whose code runs already', () => {
    expect(readFolderFile(ROOT, '.env.example', home)?.distrust).toBeNull();
    expect(readFolderFile(join(ROOT, 'docs'), 'style.md', home)?.distrust).toBe('new');
  });
});

it('a data folder is known once it was opened, and another in its place is not', () => {
  const data = join(cwd, 'data');
  mkdirSync(data);
  expect([noteDataFolder(data, home), noteDataFolder(data, home)]).toEqual([false, true]);
  renameSync(data, join(cwd, 'moved'));
  mkdirSync(data);
  expect([noteDataFolder(data, home), noteDataFolder(data, home)]).toEqual([false, true]);
  expect(trustedFiles(home)).toEqual([]);
});
