import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const PRISM = fileURLToPath(new URL('node_modules/@stoplight/prism-cli/dist/index.js', import.meta.url));

export interface Prism {
  readonly url: string;
  close(): Promise<void>;
}

/** What Prism finds wrong with a request or its answer; it says so in the header `sl-violations` of the answer. */
export interface Violation {
  readonly location: readonly string[];
  readonly severity: string;
  readonly code: string;
  readonly message: string;
}

export function violationsIn(header: string | readonly string[] | undefined): readonly Violation[] {
  return header === undefined ? [] : (JSON.parse(String(header)) as Violation[]);
}

/** Prism as a proxy before the server, which holds requests and answers against the server's own OpenAPI document. */
export async function startPrism(server: string): Promise<Prism> {
  const folder = await mkdtemp(join(tmpdir(), 'scrapifie-prism-'));
  const document = join(folder, 'openapi.json');
  await writeFile(document, await (await fetch(`${server}/openapi.json`)).text());
  const child = spawn(process.execPath, [PRISM, 'proxy', document, server, '-p', '0', '-h', '127.0.0.1'], {
    cwd: folder,
    env: { PATH: process.env.PATH ?? '', NO_COLOR: '1' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  const remove = () => rm(folder, { recursive: true, force: true });
  const url = await new Promise<string>((resolve, reject) => {
    // All lines are read, also after the one that is waited for, so that the pipe does not fill.
    createInterface(child.stdout).on('line', (line) => {
      const [, address] = /Prism is listening on (http:\S+)/.exec(line) ?? [];
      if (address !== undefined) resolve(address);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`Prism ended with ${code} before it was ready.`)));
  }).catch(async (error: unknown) => {
    await remove();
    throw error;
  });
  return {
    url,
    async close() {
      child.kill('SIGTERM');
      await ended;
      await remove();
    },
  };
}
