import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { extractContent } from '../src/extract/content/extract-content.ts';
import { type ContentModel, packForests, packTokens } from '../src/extract/content/model/model.ts';
import { readPages } from './content/pages.ts';
import { addTorn, noCounts, tornLines } from './content/torn.ts';
import { type Example, exampleOf, PLAN, train } from './content/training.ts';
import { overlapF1 } from './content/truth.ts';

const USAGE = `usage: node bench/content-train.ts FOLDER [--more FOLDER] [--check [--beside TEXTS.json]]

Learns the weights of src/extract/content from a folder of labelled pages and writes them.
  --more FOLDER         more labelled pages, which count half
  --check               writes nothing: deals the sites of the first folder into folds and scores the pages of each,
                        whole extractions, with weights learned from the others and from all of --more
  --beside TEXTS.json   texts that another program found, by id, to be scored as well`;

const WEIGHTS = fileURLToPath(new URL('../src/extract/content/model/weights.json', import.meta.url));

const FOLDS = 5;

/** How much a page of --more counts. */
const MORE_TRUST = 0.5;

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: { more: { type: 'string' }, check: { type: 'boolean' }, beside: { type: 'string' } },
});
const [folder] = positionals;
if (folder === undefined || positionals.length > 1) {
  process.stderr.write(`${USAGE}\n`);
  process.exit(2);
}

/** Pages of one site are never on both sides. */
function foldOf({ page }: Example): number {
  return createHash('sha256').update(page.site).digest().readUInt32BE() % FOLDS;
}

function check(examples: readonly Example[], more: readonly Example[], beside: string | undefined): void {
  const texts: Record<string, string> = beside === undefined ? {} : JSON.parse(readFileSync(beside, 'utf8'));
  const scores = new Map<string, { own: number; other: number; pages: number }>();
  const torn = noCounts();
  for (let fold = 0; fold < FOLDS; fold++) {
    const model = train([...examples.filter((example) => foldOf(example) !== fold), ...more], PLAN);
    for (const { evidence, page } of examples.filter((example) => foldOf(example) === fold)) {
      const { text } = extractContent(evidence.tree, page.url, { model });
      addTorn(torn, evidence.tree, page.url, model);
      for (const name of [page.type, `fold ${fold}`, 'all']) {
        const sum = scores.get(name) ?? { own: 0, other: 0, pages: 0 };
        sum.own += overlapF1(text, page.reference);
        sum.other += overlapF1(texts[page.id] ?? '', page.reference);
        sum.pages++;
        scores.set(name, sum);
      }
    }
  }
  for (const [name, sum] of scores) {
    const theirs = beside === undefined ? '' : `${(sum.other / sum.pages).toFixed(3)}  `;
    process.stdout.write(
      `${name.padEnd(14)} ${(sum.own / sum.pages).toFixed(3)}  ${theirs}(${sum.pages} pages)\n`,
    );
  }
  process.stdout.write(tornLines(torn));
}

function write({ types, tokens, first, second }: ContentModel): void {
  const forests = packForests([...types, first, second]);
  const text = `${JSON.stringify({ forests, tokens: packTokens(tokens) }, null, 2)}\n`;
  writeFileSync(WEIGHTS, text);
  process.stdout.write(`${WEIGHTS}: ${text.length} characters\n`);
}

const pages = readPages(folder);
const sites = new Set(pages.map(({ site }) => site));
const examples = pages.map((page) => exampleOf(page, 1));
const more = (values.more === undefined ? [] : readPages(values.more))
  .filter(({ site }) => !sites.has(site))
  .map((page) => exampleOf(page, MORE_TRUST));
if (values.check === true) check(examples, more, values.beside);
else write(train([...examples, ...more], PLAN));
