import { readlink, realpath, stat } from 'node:fs/promises';

/** The files that a running browser was started from, with what tells each from another of the same name. */
export interface ProgramMark {
  readonly files: ReadonlyMap<string, string>;
}

const DELETED = ' (deleted)';

/**
 * What a browser runs: the file that was started, and the program behind it where the first is a script that starts
 * another (as on Debian). The second is known on Linux alone.
 */
export async function markProgram(executablePath: string, pid: number | null): Promise<ProgramMark> {
  const program = pid === null ? null : await readlink(`/proc/${pid}/exe`).catch(() => null);
  const started = await realpath(executablePath).catch(() => executablePath);
  const files = new Map([[started, (await signatureOf(started)) ?? '']]);
  if (program?.endsWith(DELETED) === true) files.set(program.slice(0, -DELETED.length), '');
  else if (program !== null) files.set(program, (await signatureOf(program)) ?? '');
  return { files };
}

export type ProgramState =
  | { readonly kind: 'same' }
  | { readonly kind: 'missing'; readonly path: string }
  /** `signature` is the same as long as the new files are: one that still changes is being written. */
  | { readonly kind: 'changed'; readonly path: string; readonly signature: string };

export async function programState({ files }: ProgramMark): Promise<ProgramState> {
  let changed: string | null = null;
  const signatures: string[] = [];
  for (const [path, marked] of files) {
    const found = await signatureOf(path);
    if (found === null) return { kind: 'missing', path };
    signatures.push(found);
    if (found !== marked) changed ??= path;
  }
  if (changed === null) return { kind: 'same' };
  return { kind: 'changed', path: changed, signature: signatures.join(' ') };
}

async function signatureOf(path: string): Promise<string | null> {
  try {
    const { dev, ino, size, mtimeMs } = await stat(path);
    return `${dev}:${ino}:${size}:${mtimeMs}`;
  } catch {
    return null;
  }
}
