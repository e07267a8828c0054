import { readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { environmentName, settingNames } from '../../src/core/config/settings.ts';
import { type DeployedProcess, type Deployment, problemsOf, sampleSecret } from './deployment.ts';
import { DEPLOYMENTS } from './deployments.ts';
import { ROOT, readText } from './readers/dockerfile.ts';

describe.each(Object.entries(DEPLOYMENTS))('%s', (_, read) => {
  it('has variables, roles, ports, paths and users that the program knows, and all that each role needs', async () => {
    const deployments = await read();
    expect(deployments.length).toBeGreaterThan(0);
    for (const deployment of deployments)
      expect([deployment.name, problemsOf(deployment)]).toEqual([deployment.name, []]);
  });
});

/** Files that people deploy with, comments and examples in them included. */
function deployedFiles(): readonly string[] {
  const roots = ['Dockerfile', 'compose.yaml', 'compose.fleet.yaml', 'deploy'];
  const files = roots.flatMap((path) =>
    statSync(join(ROOT, path)).isDirectory()
      ? readdirSync(join(ROOT, path), { recursive: true, withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => relative(ROOT, join(entry.parentPath, entry.name)))
      : [path],
  );
  return files.filter((path) => !/(?:^|\/)(?:secrets|node_modules|\.terraform)\//.test(path));
}

describe('files to deploy with', () => {
  it('name no variable that is not a setting, in comments and templates either', () => {
    const known = new Set(
      settingNames.flatMap((name) => [environmentName(name), `${environmentName(name)}_FILE`]),
    );
    const unknown = deployedFiles().flatMap((path) =>
      [...readText(path).matchAll(/\bSCRAPIFIE_[A-Z0-9_]*[A-Z0-9]/g)]
        .filter(([variable]) => !known.has(variable))
        .map(([variable]) => `${path}: ${variable}`),
    );
    expect(unknown).toEqual([]);
  });
});

describe('a deployment that would not work', () => {
  const sound: DeployedProcess = {
    name: 'one',
    args: ['serve'],
    variables: { SCRAPIFIE_DATA_DIR: '/data', SCRAPIFIE_HOST: '0.0.0.0' },
    secretFiles: [],
    writable: ['/data', '/tmp'],
    readable: [],
    isReadOnly: true,
    user: '1000:1000',
    hasBrowser: true,
    ports: [3000],
    httpPaths: ['/healthz'],
    graceMs: 40_000,
  };
  const told = (change: Partial<DeployedProcess>, variables: Record<string, string> = {}) => {
    const changed = {
      ...sound,
      ...change,
      variables: { ...sound.variables, ...change.variables, ...variables },
    };
    return problemsOf({ name: 'x', processes: [changed] }).join('\n');
  };

  it('is none as it stands', () => {
    expect(told({})).toBe('');
  });

  it.each<[string, Partial<DeployedProcess>, RegExp]>([
    ['a misspelt variable', { variables: { SCRAPIFIE_CONTAKT: 'x' } }, /SCRAPIFIE_CONTAKT is not a setting/],
    ['a wrong value', { variables: { SCRAPIFIE_MAX_HOSTS: 'many' } }, /MAX_HOSTS must be a whole number/],
    [
      'a role that does not exist',
      { args: ['serve', '--role', 'crawler'] },
      /--role must be one of all, api/,
    ],
    ['an option that does not exist', { args: ['serve', '--folder', '/data'] }, /--folder is no option/],
    ['another command', { args: ['server'] }, /which is not serve/],
    ['a port where nothing listens', { ports: [8080] }, /port 8080 is used/],
    ['an address that others do not reach', { variables: { SCRAPIFIE_HOST: '127.0.0.1' } }, /listens on 127/],
    ['a data folder that cannot be written', { writable: ['/tmp'] }, /data folder \/data is not writable/],
    [
      'a secret that is not mounted',
      { variables: { SCRAPIFIE_API_KEY_FILE: '/run/secrets/key' } },
      /not mounted/,
    ],
    [
      'a policy that is not mounted',
      { variables: { SCRAPIFIE_POLICY_FILE: '/etc/policy.yaml' } },
      /not mounted/,
    ],
    ['no browser', { hasBrowser: false }, /role all has no browser/],
    ['too little time to drain', { graceMs: 10_000 }, /is killed after 10000 ms/],
    ['a probe that no role answers', { httpPaths: ['/health'] }, /\/health is asked for/],
    ['root as its user', { user: '0' }, /user "0"/],
    ['a tree that can be written', { isReadOnly: false }, /not read-only/],
  ])('because of %s is told', (_, change, problem) => {
    expect(told(change)).toMatch(problem);
  });

  it('because a part of a fleet lacks a server, or the fleet a role, is told', () => {
    expect(told({ args: ['serve', '--role', 'api'] })).toMatch(
      /SCRAPIFIE_DATABASE_URL is not set, and the role api/,
    );
    const places = Object.fromEntries(
      ['SCRAPIFIE_DATABASE_URL', 'SCRAPIFIE_REDIS_URL', 'SCRAPIFIE_S3_URL'].map((name) => [
        name,
        sampleSecret(name),
      ]),
    );
    const problems = told({ args: ['serve', '--role', 'api'] }, places);
    expect(problems).toContain('no process has the role scheduler');
    expect(problems).toContain('one: vaultKey is not set');
    const empty: Deployment = { name: 'x', processes: [] };
    expect(problemsOf(empty)).toEqual(['no process of Scrapifie was found']);
  });
});
