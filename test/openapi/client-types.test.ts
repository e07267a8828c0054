import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { modelOf, type OpenApiDocument } from '../../scripts/client-types/api-model.ts';
import { clientTypes } from '../../scripts/client-types/client-types.ts';
import { PYTHON } from '../../sdk/scenarios/languages.ts';
import { openPlatform, type Platform } from '../property/api-platform.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const LIMIT_MS = 60_000;

let platform: Platform;
let document = '';
beforeAll(async () => {
  platform = await openPlatform();
  document = (await platform.call({ url: '/openapi.json' })).payload;
});
afterAll(() => platform.close());

describe('the types of the clients', () => {
  it(
    'are those of the API as it is',
    () => {
      const stale = [...clientTypes(document)].filter(([path, text]) => readFileSync(path, 'utf8') !== text);
      const paths = stale.map(([path]) => relative(ROOT, path));
      expect(paths, 'run: node scripts/write-client-types.ts').toEqual([]);
    },
    LIMIT_MS,
  );

  it('have each name once, and every name that they refer to', () => {
    const model = modelOf(JSON.parse(document) as OpenApiDocument);
    const names = [...model.named, ...model.ofCalls, ...model.choices].map(({ name }) => name);
    expect(names).toHaveLength(new Set(names).size);
    const referred = [...JSON.stringify(model).matchAll(/"kind":"(?:named|choice)","name":"(\w+)"/g)].map(
      ([, name]) => name,
    );
    expect(referred.filter((name) => name === undefined || !names.includes(name))).toEqual([]);
  });

  it('say in Python which fields a request needs', () => {
    const program =
      'import typing, scrapifie.types as types\n' +
      'for each in vars(types).values():\n' +
      '    if typing.is_typeddict(each): typing.get_type_hints(each)\n' +
      'print(*sorted(types.ScrapeRequest.__required_keys__ | types.ScheduleRequest.__required_keys__))';
    const { stdout, stderr } = spawnSync(PYTHON, ['-c', program], {
      env: {
        PATH: process.env.PATH ?? '',
        PYTHONPATH: `${ROOT}sdk/python/src`,
        PYTHONDONTWRITEBYTECODE: '1',
      },
    });
    expect(`${stdout}${stderr}`.trim()).toBe('job name url');
  });
});
