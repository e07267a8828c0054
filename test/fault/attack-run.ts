import { parseArgs } from 'node:util';
import { attack } from './attack.ts';

/** Attacks a server that crawls: `node test/fault/attack-run.ts --minutes 60 --pages 400`. */
const { values } = parseArgs({
  options: { minutes: { type: 'string', default: '60' }, pages: { type: 'string', default: '400' } },
});
const say = (line: string) => void process.stdout.write(`${line}\n`);
const report = await attack({ minutes: Number(values.minutes), pages: Number(values.pages), say });
const { exitCode, serverErrors, wrongCrawls, attacks, crawls, firstMb, lastMb } = report;
const problems = [
  ...(exitCode === null ? [] : [`the server ended with ${exitCode}`]),
  ...(serverErrors === 0 ? [] : [`${serverErrors} answers with status 500`]),
  ...wrongCrawls,
  ...(attacks > 0 && crawls > 0 ? [] : ['nothing was tried']),
  // Memory that a page or a response has cost is given back: twice the first round leaves room for caches.
  ...(firstMb === 0 || lastMb < firstMb * 2 ? [] : [`memory went from ${firstMb} to ${lastMb} MB`]),
];
say(JSON.stringify({ ...report, problems }, null, 2));
process.exit(problems.length === 0 ? 0 : 1);
