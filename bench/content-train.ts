// usage: node bench/content-train.ts FOLDER [--check]
// Learns the weights of src/extract/content from a folder of labelled pages and writes them. With --check it writes
// nothing: it learns from one half of the pages, chosen by the hash of their ids, and scores the other, both ways round.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { BLOCK_FEATURES } from '../src/extract/content/block-features.ts';
import { chooseBlocks } from '../src/extract/content/choose-blocks.ts';
import { contextFeatures, CONTEXT_FEATURES } from '../src/extract/content/context-features.ts';
import { evaluate, logistic } from '../src/extract/content/forest.ts';
import type { ContentModel } from '../src/extract/content/model.ts';
import { packForests } from '../src/extract/content/packed-forest.ts';
import { typeChances } from '../src/extract/content/page-type.ts';
import { readPages } from './content/pages.ts';
import { type Example, exampleOf, PLAN, rowsWith, train } from './content/training.ts';
import { overlapF1 } from './content/truth.ts';

const WEIGHTS = fileURLToPath(new URL('../src/extract/content/weights.ts', import.meta.url));
const LINE_CHARS = 110;

const [, , folder, option] = process.argv;
if (folder === undefined || (option !== undefined && option !== '--check')) {
  process.stderr.write('usage: node bench/content-train.ts FOLDER [--check]\n');
  process.exit(2);
}

function scoreOf(model: ContentModel, example: Example): number {
  const { evidence, page } = example;
  const rows = rowsWith(example, typeChances(model.types, example.pageRow));
  const sums = evaluate(model.first, rows, BLOCK_FEATURES);
  const context = contextFeatures(evidence, rows, BLOCK_FEATURES, sums);
  const chances = evaluate(model.second, context, BLOCK_FEATURES + CONTEXT_FEATURES).map(logistic);
  const kept = chooseBlocks(evidence.blocks, chances);
  const text = evidence.blocks.filter((_, index) => kept[index] === 1).map((block) => block.text);
  return overlapF1(text.join('\n'), page.reference);
}

function check(examples: readonly Example[]): void {
  const scores = new Map<string, number[]>();
  for (const half of [0, 1]) {
    const model = train(examples.filter(({ page }) => page.half !== half), PLAN);
    for (const example of examples.filter(({ page }) => page.half === half)) {
      const score = scoreOf(model, example);
      for (const name of [example.page.type, `half ${half}`, 'all']) scores.set(name, [...(scores.get(name) ?? []), score]);
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
