// Refuses what must not go into a release: a base image that is not named by its digest, and packages whose content npm
// would not check. make docker RELEASE=1 NODE_IMAGE=node:24-slim@sha256:… runs it; docs/security.md says how to get the
// digest. Usage: node scripts/check-release.ts <base image>
import { readFileSync } from 'node:fs';
import { entriesWithoutIntegrity, type LockFile } from './lock-file.ts';
import { releaseProblems } from './release-problems.ts';

const lock: LockFile = JSON.parse(readFileSync(new URL('../package-lock.json', import.meta.url), 'utf8'));
const problems = releaseProblems({
  image: process.argv[2] ?? '',
  unverified: entriesWithoutIntegrity(lock),
});
for (const problem of problems) console.error(`scrapifie: ${problem}`);
process.exitCode = problems.length > 0 ? 1 : 0;
