import { BUILDS, type Build } from './broken-builds.ts';
import { judgeBuild } from './judged-build.ts';

/**
 * Shows that the checker finds what it is there for: the program as it is, and each build that lacks a safeguard, under
 * the faults against which that safeguard is there. `node test/fault/nemesis/broken-run.ts [BUILD …]`
 */
const say = (line: string) => void process.stdout.write(`${line}\n`);
const chosen = process.argv.slice(2);
const builds = (Object.keys(BUILDS) as Build[]).filter(
  (build) => chosen.length === 0 || chosen.includes(build),
);
const wrong: string[] = [];
for (const build of builds) {
  say(`\n${build}`);
  const { isAsExpected } = await judgeBuild(build, say);
  if (isAsExpected) continue;
  const isSound = BUILDS[build].objecting.length === 0;
  wrong.push(isSound ? `${build} was found to be broken` : `${build} was not found out`);
}
say(wrong.length === 0 ? '\nevery broken build was found out, and no other' : `\n${wrong.join('; ')}`);
process.exitCode = wrong.length === 0 ? 0 : 1;
