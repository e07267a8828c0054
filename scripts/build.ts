// Bundles the sources into dist, which the npm package has in place of them. Of their declarations only those stay that
// `exports` of package.json lead to: the others describe parts that no import reaches. The dashboard is built as well.
// Usage: node scripts/build.ts
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleProgram } from './bundle.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string | { readonly types: string }>>;
};
const entries = Object.values(manifest.exports).flatMap((entry) =>
  typeof entry === 'string' ? [] : [join(root, entry.types)],
);

execFileSync('sh', [join(root, 'scripts/dashboard.sh')], { stdio: 'inherit' });
rmSync(dist, { recursive: true, force: true });
execFileSync(join(root, 'node_modules/.bin/tsc'), ['-p', join(root, 'tsconfig.build.json')], {
  stdio: 'inherit',
});

await bundleProgram(dist);

const reached = new Set(entries);
for (const file of reached) {
  for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:from|import\()\s*["'](\.[^"']+)\.[jt]s["']/g,
  )) {
    reached.add(join(dirname(file), `${path}.d.ts`));
  }
}
for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  const path = join(entry.parentPath, entry.name);
  if (entry.isFile() && path.endsWith('.d.ts') && !reached.has(path)) rmSync(path);
}
