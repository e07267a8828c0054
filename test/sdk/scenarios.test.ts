import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LANGUAGES, type Language, PYTHON } from '../../sdk/scenarios/languages.ts';
import type { Scenario } from '../../sdk/scenarios/scenario.ts';
import { openWorld, type World } from '../../sdk/scenarios/world.ts';
import { readmeProgram } from './readme-program.ts';

const at = (path: string) => fileURLToPath(new URL(`../../sdk/${path}`, import.meta.url));
const scenarios = JSON.parse(readFileSync(at('scenarios/scenarios.json'), 'utf8')) as Scenario[];
const LIMIT_MS = 240_000;

let world: World;
beforeAll(async () => {
  world = await openWorld();
});
afterAll(async () => {
  await world.close();
});

describe('the clients', () => {
  it.each(Object.keys(LANGUAGES) as Language[])(
    'pass every scenario: %s',
    async (language) => {
      const [command, args, environment] = LANGUAGES[language];
      const verdicts = await world.run(command, args, environment);
      expect(verdicts.filter(({ ok }) => !ok)).toEqual([]);
      expect(verdicts.map(({ name }) => name)).toEqual(scenarios.map(({ name }) => name));
    },
    LIMIT_MS,
  );

  it.each(['typescript', 'python', 'go'] as const)(
    'do what their README shows: %s',
    async (language) => {
      const { output, errors, exitCode } = await readmeProgram(language, world);
      expect(exitCode, errors).toBe(0);
      expect(output).toContain('/big/');
    },
    LIMIT_MS,
  );
});

it('the synchronous client of Python is made from the asynchronous one', () => {
  const { status, stdout } = spawnSync(PYTHON, [at('python/make_sync.py'), '--check']);
  expect(String(stdout)).toBe('');
  expect(status).toBe(0);
});
