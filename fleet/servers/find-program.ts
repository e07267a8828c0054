import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
import { delimiter, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const VERSION_MS = 10_000;

export interface ProgramQuery {
  /** What `--version` must answer: another program may have the same name. */
  readonly says: RegExp;
  /** Folders to look at before those of PATH. */
  readonly folders?: readonly string[];
}

/** The path of an installed program. Throws when there is none, with what to do about it. */
export async function findProgram(name: string, query: ProgramQuery): Promise<string> {
  const found = await lookForProgram(name, query);
  if (found !== null) return found;
  throw new Error(`${name} is not installed. Run: sh scripts/servers.sh`);
}

export async function lookForProgram(name: string, query: ProgramQuery): Promise<string | null> {
  // Administrators' folders are not on everybody's PATH, and Debian keeps servers there.
  const folders = [
    ...(query.folders ?? []),
    ...(process.env.PATH ?? '').split(delimiter).filter((folder) => folder !== ''),
    '/usr/local/sbin',
    '/usr/sbin',
  ];
  for (const folder of folders) {
    const file = join(folder, name);
    try {
      await access(file, constants.X_OK);
      const { stdout, stderr } = await run(file, ['--version'], { timeout: VERSION_MS });
      if (query.says.test(stdout + stderr)) return file;
    } catch {
      // Not there, or it does not know --version: not what is looked for.
    }
  }
  return null;
}
