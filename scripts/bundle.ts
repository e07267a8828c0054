// Puts the program into few files, which start in half the time that hundreds of sources take: the launcher uses them while
// no source is newer, and the npm package has them in place of the sources.
// Usage: node scripts/bundle.ts FOLDER; the folder has to lie in the project's root, as src does.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SOURCE = join(ROOT, 'src');
/** What is started by name: the command, and what package.json exports. */
const NAMED = ['main.ts', 'library/index.ts', 'capabilities/plugins/index.ts'];
/** Files that are started or loaded by name: one, or those of a folder, of which the program chooses. */
const BY_NAME = /siblingModule\(\s*(?:'\.\/([^']+\.ts)'|`\.\/([^`$]+)\/\$\{[^}]+\}\.ts`)/g;

/** Writes the program into a folder of the project, beside what an earlier build has left there. */
export async function bundleProgram(folder: string): Promise<void> {
  const sources = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' });
  const shipped = sources.filter((path) => path.endsWith('.ts') && !/\.(?:test|fixture)\.ts$/.test(path));
  const entries = [...new Set([...NAMED, ...shipped.flatMap((path) => loadedBy(path, shipped))])];
  const bundle = await rolldown({
    input: Object.fromEntries(entries.map((path) => [flatName(path), join(SOURCE, path)])),
    platform: 'node',
    // Nothing is left out, here and below: a call whose result is not used may be there for what it throws.
    treeshake: false,
    // Packages are installed beside the program, in their own versions and with their own licences.
    external: (id) => !id.startsWith('.') && !id.startsWith('/'),
    plugins: [{ name: 'places-of-sources', transform: withPlaceOfSource }],
  });
  await bundle.write({
    dir: folder,
    format: 'esm',
    minify: false,
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  });
  await bundle.close();
  // Threads, child processes and importers name a file where its source stands.
  for (const path of entries.filter((entry) => entry.includes('/'))) {
    const stub = join(folder, path.replace(/\.ts$/, '.js'));
    const target = posix.relative(posix.dirname(path), `${flatName(path)}.js`);
    mkdirSync(dirname(stub), { recursive: true });
    writeFileSync(stub, `export * from '${target}';\n`);
  }
  for (const path of sources.filter((each) => each.endsWith('.sql'))) {
    cpSync(join(SOURCE, path), join(folder, path));
  }
}

/** The files that a source names for the program to load. */
function loadedBy(path: string, shipped: readonly string[]): string[] {
  const text = readFileSync(join(SOURCE, path), 'utf8');
  return [...text.matchAll(BY_NAME)].flatMap(([, file, folder]) => {
    if (file !== undefined) return [posix.join(posix.dirname(path), file)];
    const place = posix.join(posix.dirname(path), folder ?? '');
    return shipped.filter((each) => posix.dirname(each) === place);
  });
}

const flatName = (path: string): string => path.replace(/\.ts$/, '').replaceAll('/', '.');

/**
 * A source finds files beside it by `import.meta.url`. Its code runs in a file of the build's own folder, so the place of
 * the source is written out from there.
 */
function withPlaceOfSource(code: string, id: string): string | null {
  if (!id.startsWith(`${SOURCE}/`) || !code.includes('import.meta')) return null;
  if (/import\.meta\.(?:dirname|filename)|\bimport\(`/.test(code)) {
    throw new Error(`${id}: a bundled program knows import.meta.url, and files that siblingModule names`);
  }
  const place = relative(SOURCE, id).replace(/\.ts$/, '.js');
  return code.replaceAll('import.meta.url', `new URL('./${place}', import.meta.url).href`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const folder = resolve(process.argv[2] ?? '');
  if (dirname(folder) !== resolve(ROOT)) {
    process.stderr.write('usage: node scripts/bundle.ts FOLDER, a folder in the root of the project\n');
    process.exit(2);
  }
  await bundleProgram(folder);
}
