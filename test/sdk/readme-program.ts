import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { PYTHON } from '../../sdk/scenarios/languages.ts';
import type { World } from '../../sdk/scenarios/world.ts';

const at = (path: string) => fileURLToPath(new URL(`../../sdk/${path}`, import.meta.url));
const FENCES = { typescript: 'ts', python: 'python', go: 'go' } as const;

export interface Ended {
  readonly output: string;
  readonly errors: string;
  readonly exitCode: number | null;
}

/** Runs the program that a README shows, with the address, key and pages of the test in place of those shown. */
export async function readmeProgram(language: keyof typeof FENCES, world: World): Promise<Ended> {
  const readme = await readFile(at(`${language}/README.md`), 'utf8');
  const [, shown = ''] = new RegExp(`\`\`\`${FENCES[language]}\n([^]*?)\`\`\``).exec(readme) ?? [];
  const program = shown
    .replaceAll('http://127.0.0.1:3000', world.serverUrl)
    .replaceAll('YOUR_KEY', world.apiKey)
    .replaceAll('https://example.com/', `${world.siteUrl}/big/`)
    .replaceAll('100', '5');
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-readme-'));
  try {
    return await STARTS[language](folder, program);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const STARTS = {
  async typescript(folder: string, program: string) {
    const source = program.replace("'@scrapifie/client'", JSON.stringify(at('typescript/src/index.ts')));
    await writeFile(join(folder, 'main.ts'), source);
    await writeFile(join(folder, 'package.json'), '{"type": "module"}');
    return run(process.execPath, ['main.ts'], folder);
  },
  async python(folder: string, program: string) {
    await writeFile(join(folder, 'main.py'), program);
    return run(PYTHON, ['main.py'], folder, { PYTHONPATH: at('python/src') });
  },
  async go(folder: string, program: string) {
    await symlink(at('go'), join(folder, 'client'));
    await writeFile(join(folder, 'main.go'), program);
    const name = 'github.com/scrapifie/scrapifie-go';
    await writeFile(
      join(folder, 'go.mod'),
      `module example\n\ngo 1.19\n\nrequire ${name} v0.0.0\n\nreplace ${name} => ./client\n`,
    );
    return run('go', ['run', '.'], folder);
  },
};

async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  environment: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1', ...environment };
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  let [output, errors] = ['', ''];
  child.stdout.on('data', (chunk) => {
    output += String(chunk);
  });
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ output, errors, exitCode }));
  });
}
