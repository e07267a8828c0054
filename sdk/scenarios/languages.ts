import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const at = (path: string): string => fileURLToPath(new URL(`../${path}`, import.meta.url));

type Program = readonly [
  command: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>>,
];

/** The first Python that has the package which the client needs: that of the system, of scripts/servers.sh, or on PATH. */
export const PYTHON =
  ['/usr/bin/python3', at('../.tools/python/bin/python3'), 'python3'].find(
    (each) => spawnSync(each, ['-c', 'import httpx']).status === 0,
  ) ?? 'python3';
const PYTHON_ENVIRONMENT = { PYTHONPATH: at('python/src'), PYTHONDONTWRITEBYTECODE: '1' };

/** The program of each language that runs the scenarios. */
export const LANGUAGES = {
  typescript: [process.execPath, [at('typescript/scenarios.ts')], {}],
  python: [PYTHON, [at('python/scenarios.py')], PYTHON_ENVIRONMENT],
  'python-async': [PYTHON, [at('python/scenarios.py'), '--async'], PYTHON_ENVIRONMENT],
  go: ['sh', ['-c', `cd '${at('go')}' && exec go run ./scenarios`], {}],
} as const satisfies Readonly<Record<string, Program>>;

export type Language = keyof typeof LANGUAGES;
