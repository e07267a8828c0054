import { spawn } from 'node:child_process';

export interface Ended {
  /** Null when it was killed, because its time was over or otherwise. */
  readonly exitCode: number | null;
  /** Everything that the program printed. */
  readonly report: string;
}

export interface RunProgramOptions {
  readonly limitMs: number;
  /** Hears what it says as it says it. */
  readonly say?: (text: string) => void;
}

/** Runs one of our programs to its end. */
export function runProgram(args: readonly string[], { limitMs, say }: RunProgramOptions): Promise<Ended> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: limitMs,
    });
    let report = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8');
      stream.on('data', (piece: string) => {
        report += piece;
        say?.(piece.trimEnd());
      });
    }
    child.once('error', reject);
    child.once('close', (exitCode) => resolve({ exitCode, report }));
  });
}
