import { spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** What the suite says of one requirement. */
export interface Check {
  readonly scenario: string;
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const HERE = new URL('./', import.meta.url);
const SUITE = 'node_modules/@modelcontextprotocol/conformance/dist/index.js';
/** Each scenario has a folder with its name, between a word and a time. */
const FOLDER = /^server-(.+)-\d{4}-\d\d-\d\dT/;

/** Runs every scenario that a revision of the protocol asks of servers. */
export async function runSuite(url: string, revision: string): Promise<readonly Check[]> {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-conformance-'));
  try {
    const args = ['server', '--url', url, '--requirements', revision, '--output-dir', folder];
    const child = spawn(process.execPath, [fileURLToPath(new URL(SUITE, HERE)), ...args], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let errors = '';
    child.stderr.on('data', (chunk) => {
      errors += String(chunk);
    });
    await new Promise((resolve, reject) => child.once('error', reject).once('close', resolve));
    const names = await readdir(folder);
    if (names.length === 0) throw new Error(`The suite did not run: ${errors}`);
    const checks = await Promise.all(names.sort().map((name) => checksIn(folder, name)));
    return checks.flat();
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function checksIn(folder: string, name: string): Promise<readonly Check[]> {
  const scenario = FOLDER.exec(name)?.[1];
  if (scenario === undefined) return [];
  const text = await readFile(join(folder, name, 'checks.json'), 'utf8');
  return (JSON.parse(text) as Omit<Check, 'scenario'>[]).map((check) => ({ ...check, scenario }));
}
