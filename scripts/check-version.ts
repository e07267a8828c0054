// Says whether a tag may become a release: every part has its version, and the changelog tells what is new. With --notes it
// prints that part of the changelog. Usage: node scripts/check-version.ts v1.2.3 [--notes]
import { existsSync, readFileSync } from 'node:fs';
import { releaseNotes, versionProblems } from './version-problems.ts';

const read = (file: string): string => readFileSync(new URL(`../${file}`, import.meta.url), 'utf8');
const versionIn = (file: string): string | undefined => JSON.parse(read(file)).version;
const CHART = 'deploy/helm/scrapifie/Chart.yaml';

const tag = process.argv[2] ?? '';
const changelog = read('CHANGELOG.md');
const problems = versionProblems({
  tag,
  changelog,
  versions: {
    'package.json': versionIn('package.json'),
    'package-lock.json': versionIn('package-lock.json'),
    'sdk/typescript/package.json': versionIn('sdk/typescript/package.json'),
    'sdk/python/pyproject.toml': /^version = "(.*)"$/m.exec(read('sdk/python/pyproject.toml'))?.[1],
    ...(existsSync(new URL(`../${CHART}`, import.meta.url))
      ? { [CHART]: /^appVersion: ["']?([^"'\s]+)/m.exec(read(CHART))?.[1] }
      : {}),
  },
});
for (const problem of problems) console.error(`scrapifie: ${problem}`);
if (problems.length > 0) process.exitCode = 1;
else if (process.argv[3] === '--notes') console.log(releaseNotes(changelog, tag.replace(/^v/, '')));
