// Adds what npm left out of package-lock.json: the packages for other platforms, see lock-file.ts, and the integrity of
// packages that have none. The integrity comes from the registry that npm is set to; what that registry does not have
// stays without, and is listed in lock-gaps.json. Run it when a test says that the lock file is incomplete:
// node scripts/complete-lock.ts [folder]
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { entriesWithoutIntegrity, type LockFile, missingEntries, nameOf } from './lock-file.ts';

const folder = process.argv[2] ?? '.';
const file = join(folder, 'package-lock.json');
const lock: LockFile = JSON.parse(readFileSync(file, 'utf8'));
const missing = missingEntries(lock);
const entries = Object.entries({ ...lock.packages, ...missing });
lock.packages = Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en')));

let found = 0;
for (const [path, entry] of Object.entries(lock.packages)) {
  if (path === '' || entry.integrity !== undefined || entry.link === true || entry.version === undefined)
    continue;
  const integrity = integrityOf(`${nameOf(path)}@${entry.version}`);
  if (integrity === null) continue;
  const { version, ...rest } = entry;
  lock.packages[path] = { version, integrity, ...rest };
  found += 1;
}
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
const gaps = entriesWithoutIntegrity(lock);
if (folder === '.') {
  const list = fileURLToPath(new URL('lock-gaps.json', import.meta.url));
  writeFileSync(list, `${JSON.stringify(gaps, null, 2)}\n`);
}
console.log(
  `${file}: ${Object.keys(missing).length} entries added, integrity of ${found} added, ${gaps.length} have none`,
);

/** Null when the registry cannot say. */
function integrityOf(spec: string): string | null {
  try {
    const text = execFileSync('npm', ['view', spec, 'dist.integrity', '--json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    const answer: unknown = JSON.parse(text);
    return typeof answer === 'string' && /^sha512-[A-Za-z0-9+/]{86}==$/.test(answer) ? answer : null;
  } catch {
    return null;
  }
}
