import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { api } from './api.ts';
import { capacity } from './capacity.ts';
import { content } from './content.ts';
import { crawl } from './crawl.ts';
import { dashboard } from './dashboard.ts';
import { exports } from './exports.ts';
import { extract } from './extract.ts';
import { fleet } from './fleet.ts';
import { growth } from './growth.ts';
import { isMet, type Part } from './part.ts';
import { readers } from './readers.ts';
import { render } from './render.ts';
import { barsTable, circumstances, type Measured, pageOf, tableOf } from './report.ts';
import { search } from './search.ts';
import { tracing } from './tracing.ts';
import { usage } from './usage.ts';

const PARTS: readonly Part[] = [
  crawl,
  render,
  growth,
  api,
  readers,
  tracing,
  extract,
  content,
  exports,
  search,
  usage,
  fleet,
  capacity,
  dashboard,
];
const USAGE = `usage: node bench/main.ts [${PARTS.map(({ name }) => name).join('|')} …] [--quick] [--pages DIR]`;
const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));

function fail(message: string): never {
  process.stderr.write(`${message}\n${USAGE}\n`);
  process.exit(2);
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { quick: { type: 'boolean', default: false }, pages: { type: 'string' } },
    });
    return { isQuick: values.quick, pagesDir: values.pages ?? null, names: positionals };
  } catch (error) {
    return fail(error instanceof Error ? error.message : String(error));
  }
}

function chosen(names: readonly string[]): readonly Part[] {
  const unknown = names.find((name) => !PARTS.some((part) => part.name === name));
  if (unknown !== undefined) fail(`There is no part ${unknown}.`);
  return names.length === 0 ? PARTS : PARTS.filter(({ name }) => names.includes(name));
}

const say = (line: string) => process.stdout.write(`${line}\n`);
const { isQuick, pagesDir, names } = readArguments();
const folder = isQuick ? `${RESULTS}quick.tmp/` : RESULTS;
const fileOf = (part: Part) => `${folder}${part.name}.json`;

async function run(part: Part): Promise<Measured> {
  const scratch = `${RESULTS}${part.name}.tmp`;
  const empty = () => rmSync(scratch, { recursive: true, force: true });
  empty();
  mkdirSync(scratch, { recursive: true });
  try {
    say(`\n${part.name}`);
    const result = await part.run({
      isQuick,
      pagesDir: pagesDir === null ? null : resolve(pagesDir),
      scratch,
      say: (line) => say(`  ${line}`),
    });
    const measured = { where: circumstances(Date.now(), isQuick), result };
    writeFileSync(fileOf(part), `${JSON.stringify(measured, null, 2)}\n`);
    return measured;
  } finally {
    empty();
  }
}

// Also where no part can be measured: the page then says so.
mkdirSync(folder, { recursive: true });
const measured: Measured[] = [];
for (const part of chosen(names)) {
  try {
    measured.push(await run(part));
  } catch (error) {
    // A bar that is missed is a result; a program that fails is not. The other parts are measured all the same.
    say(`  ${part.name} could not be measured: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

// Parts that were not run this time keep what they measured last.
const all = PARTS.map(fileOf)
  .filter((file) => existsSync(file))
  .map((file) => JSON.parse(readFileSync(file, 'utf8')) as Measured);
writeFileSync(`${folder}latest.md`, pageOf(all));

const bars = measured.flatMap(({ result }) => result.bars);
const missed = bars.filter((bar) => !isMet(bar)).length;
if (bars.length > 0) say(`\n${tableOf(barsTable(bars))}`);
if (bars.length === 0) say('\nNo bar was measured.');
else say(missed === 0 ? '\nAll bars met.' : `\n${missed} of ${bars.length} bars missed.`);
say(`Written: ${folder}latest.md, and one JSON file per part beside it.`);
