import type { Shell } from '../shell/shell.ts';

const told = new WeakMap<NodeJS.WriteStream, Set<string>>();

/** Writes a note beside the results of a command, once however often the command comes to it. */
export function tellOnce({ stderr }: Pick<Shell, 'stderr'>, note: string): void {
  const before = told.get(stderr) ?? new Set();
  told.set(stderr, before);
  if (before.has(note)) return;
  before.add(note);
  stderr.write(`${note}\n`);
}
