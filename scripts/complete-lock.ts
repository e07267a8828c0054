// Adds the packages for other platforms that npm left out of package-lock.json; see lock-file.ts.
// Run it when a test says that the lock file is incomplete: node scripts/complete-lock.ts [folder]
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type LockFile, missingEntries } from './lock-file.ts';

const file = join(process.argv[2] ?? '.', 'package-lock.json');
const lock: LockFile = JSON.parse(readFileSync(file, 'utf8'));
const missing = missingEntries(lock);
const entries = Object.entries({ ...lock.packages, ...missing });
lock.packages = Object.fromEntries(entries.sort(([a], [b]) => a.localeCompare(b, 'en')));
writeFileSync(file, `${JSON.stringify(lock, null, 2)}\n`);
console.log(`${file}: ${Object.keys(missing).length} entries added`);
