// usage: node bench/content-train.ts FOLDER [--check]
// Learns the weights of src/extract/content from a folder of labelled pages and writes them. With --check it writes
// nothing: it learns from one half of the pages, chosen by the hash of their ids, and scores the other, both ways round.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { decideBlocks } from '../src/extract/content/decide-blocks.ts';
import type { ContentModel } from '../src/extract/content/model.ts';
import { packForests } from '../src/extract/content/packed-forest.ts';
import { readPages } from './content/pages.ts';
import { type Example, exampleOf, PLAN, train } from './content/training.ts';
import { overlapF1 } from './content/truth.ts';

const WEIGHTS = fileURLToPath(new URL('../src/extract/content/weights.ts', import.meta.url));
const LINE_CHARS = 110;

const [, , folder, option] = process.argv;
if (folder === undefined || (option !== undefined && option !== '--check')) {
  process.stderr.write('usage: node bench/content-train.ts FOLDER [--check]\n');
  process.exit(2);
}

function scoreOf(model: ContentModel, { evidence, page }: Example): number {
  const { isKept } = decideBlocks(evidence, model);
  const kept = evidence.blocks.filter((_, index) => isKept[index] === 1);
  return overlapF1(kept.map(({ text }) => text).join('\n'), page.reference);
}

function check(examples: readonly Example[]): void {
  const scores = new Map<string, number[]>();
  for (const half of [0, 1]) {
    const model = train(
      examples.filter(({ page }) => page.half !== half),
      PLAN,
    );
    for (const example of examples.filter(({ page }) => page.half === half)) {
      const score = scoreOf(model, example);
      for (const name of [example.page.type, `half ${half}`, 'all'])
        scores.set(name, [...(scores.get(name) ?? []), score]);
    }
  }
  for (const [name, values] of scores) {
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    process.stdout.write(`${name.padEnd(14)} ${mean.toFixed(3)}  (${values.length} pages)\n`);
  }
}

function write({ types, first, second }: ContentModel): void {
  const packed = packForests([...types, first, second]);
  const lines: string[] = [];
  for (let at = 0; at < packed.length; at += LINE_CHARS) lines.push(packed.slice(at, at + LINE_CHARS));
  const source = [
    '// Written by bench/content-train.ts from labelled pages; see docs/extraction.md. Not to be edited.',
    '',
    '/** The forests of the content model, packed. */',
    'export const WEIGHTS = `',
    ...lines,
    '`;',
    '',
  ];
  writeFileSync(WEIGHTS, source.join('\n'));
  process.stdout.write(`${WEIGHTS}: ${packed.length} characters\n`);
}

const examples = readPages(folder).map(exampleOf);
if (option === '--check') check(examples);
else write(train(examples, PLAN));
