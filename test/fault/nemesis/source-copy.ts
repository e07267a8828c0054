import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A change of one source: the text must be there, once. */
export interface Replacement {
  /** From the root of the project. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const COPIED = [
  'src',
  'fleet',
  'scripts',
  'policies',
  'test',
  'scrapifie',
  'package.json',
  'package-lock.json',
];
const SHARED = ['node_modules', '.tools'];

/** Copies what is needed to run the program and this test of it into an empty folder, and changes it. */
export async function copySources(dir: string, replacements: readonly Replacement[]): Promise<void> {
  for (const name of COPIED) {
    await cp(join(ROOT, name), join(dir, name), { recursive: true, preserveTimestamps: true });
  }
  for (const name of SHARED) await symlink(join(ROOT, name), join(dir, name));
  for (const { file, from, to } of replacements) {
    const path = join(dir, file);
    const text = await readFile(path, 'utf8');
    const found = text.split(from).length - 1;
    if (found !== 1) throw new Error(`${file} has ${found} times what is to be replaced: ${from}`);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(
      path,
      text.replace(from, () => to),
    );
  }
}
