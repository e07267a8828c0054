// Makes the npm package: builds the program, packs it, and refuses a package without what its package.json leads to. `npm pack`
// alone packs whatever is built, because this project lets no script of npm run (`ignore-scripts` in .npmrc).
// Usage: node scripts/pack.ts [FOLDER]; the last line of the output is the path of the package.
import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

const root = fileURLToPath(new URL('..', import.meta.url));
const folder = resolve(process.argv[2] ?? root);

execFileSync(process.execPath, ['--disable-warning=ExperimentalWarning', join(root, 'scripts/build.ts')], {
  stdio: ['ignore', 2, 2],
});
const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', folder];
const printed = execFileSync('npm', pack, { cwd: root, encoding: 'utf8', maxBuffer: 64_000_000 });
const [packed] = Object.values(JSON.parse(printed)) as [Packed];
const path = join(folder, packed.filename);

const { bin, exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<
  'bin' | 'exports',
  unknown
>;
/** The launcher starts the first; the dashboard is of use to a server alone, and so named by no entry of package.json. */
const needed = ['dist/main.js', 'dashboard/dist/index.html', ...pathsIn(bin), ...pathsIn(exports)];
const has = new Set(packed.files.map((file) => file.path));
const missing = needed.map((name) => name.replace(/^\.\//, '')).filter((name) => !has.has(name));
if (missing.length > 0) {
  rmSync(path);
  process.stderr.write(`pack: the package would lack ${missing.join(', ')}; nothing was written\n`);
  process.exit(1);
}
process.stdout.write(`${path}\n`);

/** All paths in a value of package.json, however deep. */
function pathsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  return Object.values((value ?? {}) as Record<string, unknown>).flatMap(pathsIn);
}
