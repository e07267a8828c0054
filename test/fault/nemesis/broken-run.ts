import { BUILDS, type Build } from './broken-builds.ts';
import { judgeBuild } from './judged-build.ts';

/**
 * Shows that the checker finds what it is there for: a worker is stopped past its lease, once in the program as it
 * is and once in each build that lacks a lease check. `node test/fault/nemesis/broken-run.ts [BUILD …]`
 */
const say = (line: string) => void process.stdout.write(`${line}\n`);
const chosen = process.argv.slice(2);
const builds = (Object.keys(BUILDS) as Build[]).filter(
  (build) => chosen.length === 0 || chosen.includes(build),
);
const wrong: string[] = [];
for (const build of builds) {
  say(`\n${build}`);
  const { exitCode, report } = await judgeBuild(build, say);
  const objecting: readonly string[] = BUILDS[build].objecting;
  if (objecting.length === 0 && exitCode !== 0) wrong.push(`${build} was found to be broken`);
  const isFoundOut = exitCode === 1 && objecting.some((check) => report.includes(`${check}: `));
  if (objecting.length > 0 && !isFoundOut) wrong.push(`${build} was not found out`);
}
say(wrong.length === 0 ? '\nevery broken build was found out, and no other' : `\n${wrong.join('; ')}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
