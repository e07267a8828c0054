import { cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
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
const PACKAGES = 'node_modules';
const SHARED = [PACKAGES, '.tools'];

/** Copies what is needed to run the program and this test of it into an empty folder, and changes it. */
export async function copySources(dir: string, replacements: readonly Replacement[]): Promise<void> {
  for (const name of COPIED) {
    await cp(join(ROOT, name), join(dir, name), { recursive: true, preserveTimestamps: true });
  }
  for (const name of SHARED) await linkEntries(join(ROOT, name), join(dir, name));
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

/**
 * Makes a folder with a link to each entry of another. The folder itself is no link: an installation of packages into the copy
 * empties it first, and through a link it would empty that of the project.
 */
export async function linkEntries(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  for (const name of await readdir(from)) {
    if (name === PACKAGES) await linkEntries(join(from, name), join(to, name));
    else await symlink(join(from, name), join(to, name));
  }
}
