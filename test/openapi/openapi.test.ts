import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { MAKERS, makerOf } from '../isolation/resources.ts';
import { createTenant } from '../isolation/tenants.ts';
import { DONE, openPlatform, type Platform } from '../property/api-platform.ts';
import { type Operation, operationsOf, pathWith } from './operations.ts';
import { runChecker } from './run-checker.ts';

let platform: Platform;
let folder = '';
let file = '';
let operations: readonly Operation[] = [];

beforeAll(async () => {
  platform = await openPlatform();
  await platform.work(() => DONE);
  folder = await mkdtemp(join(tmpdir(), 'scrapifie-openapi-'));
  file = join(folder, 'openapi.json');
  const { payload } = await platform.call({ url: '/openapi.json' });
  await writeFile(file, payload);
  operations = operationsOf(JSON.parse(payload));
});
afterAll(async () => {
  await platform.close();
  await rm(folder, { recursive: true, force: true });
});

const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));

describe('the OpenAPI document', () => {
  it('has nothing that Redocly objects to', async () => {
    const args = ['lint', file, '--format=json', `--config=${here('redocly.yaml')}`];
    const { output, errors } = await runChecker('@redocly/cli/bin/cli.js', args);
    const { problems } = JSON.parse(output || '{}') as {
      problems?: { ruleId: string; message: string; location: { pointer?: string }[] }[];
    };
    expect(problems, errors).toBeDefined();
    const said = problems?.map(
      ({ ruleId, message, location }) => `${ruleId} ${location[0]?.pointer}: ${message}`,
    );
    expect(said).toEqual([]);
  });

  it('has nothing that Spectral objects to', async () => {
    const args = ['lint', file, '-f', 'json', '--quiet', '--ruleset', here('spectral.yaml')];
    const { output, errors } = await runChecker('@stoplight/spectral-cli/dist/index.js', args);
    expect(output, errors).not.toBe('');
    const problems = JSON.parse(output) as { code: string; message: string; path: string[] }[];
    expect(problems.map(({ code, message, path }) => `${code} ${path.join('/')}: ${message}`)).toEqual([]);
  });

  it('gives types with which a client compiles, and with which a wrong one does not', async () => {
    const types = join(folder, 'types.ts');
    // Fields with a default may be left out of requests; without this the generator makes them required.
    const optional = ['--default-non-nullable', 'false'];
    const made = await runChecker('openapi-typescript/bin/cli.js', [file, '-o', types, ...optional]);
    expect(made.exitCode, made.errors).toBe(0);
    const client = (body: string) => `import type { paths } from './types.ts';
type Body = paths['/v1/scrape']['post']['requestBody']['content']['application/json'];
type Answer = paths['/v1/jobs/{id}']['get']['responses'][200]['content']['application/json'];
export const body: Body = ${body};
export const statusOf = (answer: Answer): string => answer.data.status;
`;
    const compile = async (body: string) => {
      await writeFile(join(folder, 'client.ts'), client(body));
      const options = [
        '--noEmit',
        '--strict',
        '--ignoreConfig',
        '--allowImportingTsExtensions',
        '--target',
        'esnext',
      ];
      return runChecker('../../../node_modules/typescript/bin/tsc', [
        ...options,
        '--module',
        'nodenext',
        '--skipLibCheck',
        join(folder, 'client.ts'),
      ]);
    };
    const right = await compile("{ url: 'https://example.com/' }");
    expect(right.exitCode, right.output).toBe(0);
    const wrong = await compile('{ url: 5 }');
    expect(wrong.exitCode).not.toBe(0);
  });
});

/** Operations whose examples are understood, and refused for the state of what they are sent to. */
const REFUSED: Readonly<Record<string, string>> = {
  // The job of the test has ended with nothing left out.
  'POST /v1/jobs/{id}/resume': 'CONFLICT',
  // The session of the test has no credentials; test/integration/login.test.ts tries real log-in forms.
  'POST /v1/sessions/{name}/login': 'UNSUPPORTED_OPTION',
};
// The server of the test has no lake: SQL is understood and unavailable; test/integration/sql-query.test.ts runs it.

describe('examples of the OpenAPI document', () => {
  it('stand with every operation that takes a body', () => {
    const without = operations.filter(({ hasBody, examples }) => hasBody && examples.length === 0);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it('are accepted by the server', async () => {
    const owner = await createTenant(platform, 'owner');
    for (const { name, method, path, access, examples } of operations) {
      for (const [at, payload] of examples.entries()) {
        const maker = path.includes('{') ? MAKERS[makerOf(path) ?? ''] : undefined;
        const { own } = (await maker?.make(owner)) ?? { own: {} };
        const isOfOperator = access.includes('operator') || access.includes('installation');
        const headers = { 'x-api-key': isOfOperator ? platform.secret : owner.secret };
        const answer = await platform.api.inject({ method, url: pathWith(path, own), headers, payload });
        const refusal = 'sql' in payload ? 'QUERY_UNAVAILABLE' : REFUSED[name];
        const what = `example ${at} of ${name}: ${answer.payload}`;
        if (refusal === undefined) expect(answer.statusCode, what).toBeLessThan(300);
        else expect(answer.json().error?.code, what).toBe(refusal);
      }
    }
  });
});
