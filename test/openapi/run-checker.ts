import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export interface CheckerRun {
  readonly exitCode: number | null;
  readonly output: string;
  readonly errors: string;
}

const HERE = new URL('./', import.meta.url);

/** Runs a program of this folder's own packages, by the path of its script. It is told not to use the network. */
export async function runChecker(script: string, args: readonly string[]): Promise<CheckerRun> {
  const child = spawn(process.execPath, [fileURLToPath(new URL(`node_modules/${script}`, HERE)), ...args], {
    cwd: fileURLToPath(HERE),
    env: {
      PATH: process.env.PATH ?? '',
      HOME: process.env.HOME ?? '',
      REDOCLY_TELEMETRY: 'off',
      REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
      CI: 'true',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
  const exitCode = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { exitCode, output: Buffer.concat(output).toString(), errors: Buffer.concat(errors).toString() };
}
