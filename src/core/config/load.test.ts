import { chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isScrapifieError, type ScrapifieError } from '../errors/scrapifie-error.ts';
import { trustFolder } from './folder-trust.ts';
import { type LoadOptions, loadSettings, type SettingProblem } from './load.ts';
import { environmentName, settingNames } from './settings.ts';

let cwd: string;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'scrapifie-settings-'));
});
afterEach(() => rmSync(cwd, { recursive: true }));

/** The user of these tests has trusted nothing but what a test trusts. */
const home = () => ({ XDG_CONFIG_HOME: join(cwd, 'settings') });

const load = (environment: NodeJS.ProcessEnv = {}, overrides: LoadOptions['overrides'] = {}) =>
  loadSettings({ ...home(), ...environment }, { cwd, overrides });

const file = (name: string, content: string): void => writeFileSync(join(cwd, name), content);

/** A `.env` that the user has trusted. */
function dotEnv(content: string): void {
  file('.env', content);
  trustFolder(cwd, home());
}

function refusal(environment: NodeJS.ProcessEnv, overrides: LoadOptions['overrides'] = {}): ScrapifieError {
  try {
    load(environment, overrides);
  } catch (error) {
    if (isScrapifieError(error) && error.code === 'INVALID_SETTINGS') return error;
    throw error;
  }
  throw new Error('the settings were accepted');
}
const problemsOf = (error: ScrapifieError) => error.details as SettingProblem[];

describe('where a setting comes from', () => {
  it('is the default when nobody says anything', () => {
    expect(load()).toMatchObject({ host: '127.0.0.1', port: 3000, dataDir: join(cwd, 'data') });
  });

  it('is .env, overruled by the environment, overruled by the command line', () => {
    dotEnv('SCRAPIFIE_PORT=1111\nSCRAPIFIE_HOST=::1\nexport SCRAPIFIE_LOG_LEVEL="warn"\n');
    const settings = load({ SCRAPIFIE_PORT: '2222', SCRAPIFIE_HOST: '0.0.0.0' }, { port: 3333 });
    expect(settings).toMatchObject({ port: 3333, host: '0.0.0.0', logLevel: 'warn' });
  });

  it('is the file that the variable with _FILE names, without its last newline', () => {
    file('key', 'a-key-with-spaces and 🔑\r\n');
    expect(load({ SCRAPIFIE_API_KEY_FILE: 'key' }).apiKey).toBe('a-key-with-spaces and 🔑');
  });

  it('may be a file in .env and a plain value in the environment', () => {
    file('key', 'the-key-of-the-file');
    dotEnv('SCRAPIFIE_API_KEY_FILE=key\n');
    expect(load({ SCRAPIFIE_API_KEY: 'the-key-of-the-environment' }).apiKey).toBe(
      'the-key-of-the-environment',
    );
  });

  it('is not an empty variable, which also takes back what .env says', () => {
    dotEnv('SCRAPIFIE_CONTACT=me@example.org\nSCRAPIFIE_PORT=1111\n');
    const settings = load({ SCRAPIFIE_CONTACT: '', SCRAPIFIE_PORT: ' ', SCRAPIFIE_API_KEY_FILE: '' });
    expect(settings).toMatchObject({ port: 3000 });
    expect(settings.contact).toBeUndefined();
  });

  it('is not an override that is undefined', () => {
    expect(load({ SCRAPIFIE_PORT: '2222' }, { port: undefined }).port).toBe(2222);
  });

  it('does not care about variables of other programs', () => {
    dotEnv('DATABASE_URL=x\n');
    expect(load({ PATH: '/bin', SCRAPIFIER: '1' }).port).toBe(3000);
  });
});

describe('relative paths', () => {
  it('start from the working folder, absolute ones stay', () => {
    const settings = load({ SCRAPIFIE_DATA_DIR: '../elsewhere', SCRAPIFIE_POLICY_FILE: 'policy.yaml' });
    expect(settings.dataDir).toBe(join(cwd, '../elsewhere'));
    expect(settings.policyFile).toBe(join(cwd, 'policy.yaml'));
    expect(load({ SCRAPIFIE_DATA_DIR: '/srv/data' }).dataDir).toBe('/srv/data');
  });
});

describe('wrong settings', () => {
  it('are all named at once', () => {
    dotEnv('SCRAPIFIE_HOSTS=a\nSCRAPIFIE_MAX_HOSTS\n');
    const error = refusal(
      { SCRAPIFIE_PORT: '70000', SCRAPIFIE_ALLOW_PRIVATE: 'maybe', SCRAPIFIE_LOG_LEVEL: 'loud' },
      { maxConcurrency: 'many' },
    );
    expect(problemsOf(error)).toEqual([
      { setting: 'SCRAPIFIE_MAX_HOSTS', source: '.env', problem: 'has no = after its name' },
      {
        setting: 'SCRAPIFIE_HOSTS',
        source: '.env',
        problem: 'is not a setting; did you mean SCRAPIFIE_HOST?',
      },
      { setting: 'SCRAPIFIE_PORT', source: 'environment', problem: 'must be at most 65535' },
      {
        setting: 'SCRAPIFIE_ALLOW_PRIVATE',
        source: 'environment',
        problem: 'must be true, false, or IP addresses and CIDR ranges, separated by commas',
      },
      {
        setting: 'SCRAPIFIE_LOG_LEVEL',
        source: 'environment',
        problem: 'must be one of trace, debug, info, warn, error, fatal, silent',
      },
      { setting: '--max-concurrency', source: 'command line', problem: 'must be a whole number' },
    ]);
    for (const { setting, problem } of problemsOf(error)) {
      expect(error.message).toContain(setting);
      expect(error.message).toContain(problem);
    }
    expect(error.message).toContain('6 settings are wrong');
  });

  it('are all named at once, those that contradict each other too', () => {
    const environment = {
      SCRAPIFIE_PORT: 'many',
      SCRAPIFIE_LOG_LEVEL: 'loud',
      SCRAPIFIE_DATABASE_URL: 'postgres://me:50%@db/x',
      SCRAPIFIE_S3_URL: 'https://key@s3.test/bucket',
      SCRAPIFIE_LLM_URL: 'https://llm.test/v1',
      SCRAPIFIE_ROLE: 'api',
    };
    const named = (options: { readonly isServing?: boolean }) => {
      try {
        loadSettings(environment, { cwd, ...options });
      } catch (error) {
        return problemsOf(error as ScrapifieError).map(({ setting, problem }) => `${setting} ${problem}`);
      }
      return [];
    };
    const wrong = [
      'SCRAPIFIE_PORT must be a whole number',
      'SCRAPIFIE_LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent',
      'SCRAPIFIE_DATABASE_URL has a percent sign that stands for nothing; write it as %25',
      'SCRAPIFIE_S3_URL must have both an access key and a secret before the host, or neither of them',
      'SCRAPIFIE_LLM_MODEL is required with SCRAPIFIE_LLM_URL',
    ];
    expect(named({})).toEqual(wrong);
    expect(named({ isServing: true })).toEqual([
      ...wrong,
      'SCRAPIFIE_REDIS_URL is not set, and the role api is a part of a fleet: the built-in queue reaches no other process',
    ]);
  });

  it('that are missing are not reported when a wrong value was given for them', () => {
    const environment = { SCRAPIFIE_ROLE: 'api', SCRAPIFIE_DATABASE_URL: 'nowhere' };
    const load = () => loadSettings(environment, { cwd, isServing: true });
    expect(load).toThrow(/3 settings are wrong/);
    expect(load).not.toThrow(/DATABASE_URL is not set/);
  });

  it.each([
    ['SCRAPIFIE_APIKEY', 'SCRAPIFIE_API_KEY'],
    ['SCRAPIFIE_DATADIR', 'SCRAPIFIE_DATA_DIR'],
    ['SCRAPIFIE_PROT', 'SCRAPIFIE_PORT'],
    ['SCRAPIFIE_LOGLEVL', 'SCRAPIFIE_LOG_LEVEL'],
    ['SCRAPIFIE_MAX_CONCURENCY', 'SCRAPIFIE_MAX_CONCURRENCY'],
  ])('%s is answered with %s', (wrong, right) => {
    expect(refusal({ [wrong]: 'x' }).message).toContain(`did you mean ${right}?`);
  });

  it('get no suggestion when nothing is close', () => {
    expect(refusal({ SCRAPIFIE_FLUX_CAPACITOR: '1' }).message).toMatch(/is not a setting$/);
  });

  it('include a value given both plainly and as a file', () => {
    file('key', 'sixteen-letters-and-more');
    const error = refusal({ SCRAPIFIE_API_KEY: 'another-long-secret', SCRAPIFIE_API_KEY_FILE: 'key' });
    expect(problemsOf(error)).toHaveLength(1);
    expect(error.message).toContain('SCRAPIFIE_API_KEY is given together with SCRAPIFIE_API_KEY_FILE');
  });

  it('include files that are missing, empty or folders', () => {
    file('empty', '\n');
    mkdirSync(join(cwd, '.env'));
    const error = refusal({ SCRAPIFIE_API_KEY_FILE: 'empty', SCRAPIFIE_CONTACT_FILE: 'missing' });
    expect(error.message).toContain('.env cannot be read (EISDIR)');
    expect(error.message).toContain('SCRAPIFIE_API_KEY_FILE names an empty file');
    expect(error.message).toContain('SCRAPIFIE_CONTACT_FILE names a file that cannot be read (ENOENT)');
  });

  it('include files without an end, and keys that no header could carry', () => {
    file('two-lines', 'sixteen-letters-and-more\r\n\n');
    const error = refusal({ SCRAPIFIE_API_KEY_FILE: 'two-lines', SCRAPIFIE_CONTACT_FILE: '/dev/zero' });
    expect(error.message).toContain('SCRAPIFIE_API_KEY_FILE must have no line breaks');
    expect(error.message).toContain('SCRAPIFIE_CONTACT_FILE names a file of more than 1000000 characters');
  });

  it('include a database URL that no connection can be made with', () => {
    const problemOf = (url: string) => problemsOf(refusal({ SCRAPIFIE_DATABASE_URL: url }))[0]?.problem;
    const missing = 'names a file that cannot be read (sslrootcert, ENOENT)';
    expect(problemOf('postgres://me@db/x?sslrootcert=/missing.pem')).toBe(missing);
    expect(problemOf(`postgres://me@db/x?sslkey=${encodeURIComponent(cwd)}`)).toContain('(sslkey, EISDIR)');
    for (const wrong of ['me:50%@db/x', 'me:a%ffb@db/x', 'me@db/%ff']) {
      expect(problemOf(`postgres://${wrong}`)).toContain('percent sign');
    }
    file('ca.pem', 'a certificate');
    const good = `postgres://me:50%25@db/x?sslrootcert=${encodeURIComponent(join(cwd, 'ca.pem'))}`;
    expect(load({ SCRAPIFIE_DATABASE_URL: good }).databaseUrl).toBe(good);
  });

  it('never show a value, whichever variable it was put into', () => {
    const names = settingNames.flatMap((name) => [
      environmentName(name),
      `${environmentName(name)}_FILE`,
      `${environmentName(name)}X`,
    ]);
    const secret = fc.stringMatching(/^hush[a-z0-9]{4,12}$/);
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom(...names), secret, { minKeys: 1 }), (environment) => {
        try {
          load(environment);
        } catch (error) {
          const shown = `${error}${JSON.stringify(error)}`;
          for (const value of Object.values(environment)) expect(shown).not.toContain(value);
        }
      }),
    );
  });
});

describe.skipIf(process.getuid?.() !== 0)('a data folder of another user', () => {
  const serve = (environment: NodeJS.ProcessEnv = {}, overrides: LoadOptions['overrides'] = {}) =>
    loadSettings({ ...home(), ...environment }, { cwd, overrides, isServing: true });
  beforeEach(() => {
    mkdirSync(join(cwd, 'data'));
    chownSync(join(cwd, 'data'), 54_321, 54_321);
  });

  it('is refused where it was only found, and used where it is named', () => {
    expect(() => serve()).toThrow(
      expect.objectContaining({ code: 'DATA_DIR_UNUSABLE', message: expect.stringContaining('--data-dir') }),
    );
    const dataDir = join(cwd, 'data');
    expect(serve({}, { dataDir: 'data' }).dataDir).toBe(dataDir);
    expect(serve({ SCRAPIFIE_DATA_DIR: './data' }).dataDir).toBe(dataDir);
    // A program that is no server may not touch it.
    expect(load().dataDir).toBe(dataDir);
  });

  it('is fine once it is the own', () => {
    chownSync(join(cwd, 'data'), 0, 0);
    expect(serve().dataDir).toBe(join(cwd, 'data'));
  });
});
