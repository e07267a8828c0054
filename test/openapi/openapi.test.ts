import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DONE, openPlatform, type Platform } from '../property/api-platform.ts';
import { runChecker } from './run-checker.ts';

interface Operation {
  readonly operationId: string;
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly examples?: readonly object[] } }>
    >;
  };
}

let platform: Platform;
let folder = '';
let file = '';
let document: { readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>> };

beforeAll(async () => {
  platform = await openPlatform();
  await platform.work(() => DONE);
  folder = await mkdtemp(join(tmpdir(), 'scrapifie-openapi-'));
  file = join(folder, 'openapi.json');
  const { payload } = await platform.call({ url: '/openapi.json' });
  await writeFile(file, payload);
  document = JSON.parse(payload);
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
    const made = await runChecker('openapi-typescript/bin/cli.js', [file, '-o', types]);
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

describe('examples of the OpenAPI document', () => {
  it('are accepted by the server', async () => {
    const tried: string[] = [];
    for (const [path, operations] of Object.entries(document.paths)) {
      for (const [method, { operationId, requestBody }] of Object.entries(operations)) {
        const examples = requestBody?.content['application/json']?.schema.examples ?? [];
        if (path.includes('{')) continue;
        for (const payload of examples) {
          const call = { method: method.toUpperCase() as 'POST', url: path, payload };
          const answer = await platform.call(call);
          expect(
            answer.statusCode,
            `${operationId} ${JSON.stringify(payload)}: ${answer.payload}`,
          ).toBeLessThan(300);
          tried.push(operationId);
        }
      }
    }
    expect(tried).toEqual(expect.arrayContaining(['scrape', 'startBatch', 'startCrawl', 'createKey']));
  });
});
