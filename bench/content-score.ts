// usage: node bench/content-score.ts FOLDER [PREDICTIONS.json]
// Extracts the pages of a folder with the shipped weights, prints the scores and writes the texts by id.
import { writeFileSync } from 'node:fs';
import { extractContent } from '../src/extract/content/extract-content.ts';
import { model } from '../src/extract/content/model/model.ts';
import { buildTree } from '../src/extract/tree/tree-builder.ts';
import { readPages } from './content/pages.ts';
import { addTorn, noCounts, tornLines } from './content/torn.ts';
import { overlapF1 } from './content/truth.ts';

const [, , folder, target] = process.argv;
if (folder === undefined) {
  process.stderr.write('usage: node bench/content-score.ts FOLDER [PREDICTIONS.json]\n');
  process.exit(2);
}
const texts: Record<string, string> = {};
const scores = new Map<string, number[]>();
const facts = { title: 0, author: 0, authors: 0, date: 0, dates: 0, type: 0 };
const torn = noCounts();
const pages = readPages(folder);
for (const { id, html, url, type, reference, truth } of pages) {
  const tree = buildTree(html);
  const content = extractContent(tree, url);
  addTorn(torn, tree, url, model());
  texts[id] = content.text;
  const score = overlapF1(content.text, reference);
  for (const name of [type, 'all']) scores.set(name, [...(scores.get(name) ?? []), score]);
  if (content.pageType === type) facts.type++;
  if (overlapF1(content.title ?? '', truth.title ?? '') > 0.8) facts.title++;
  if (truth.author) {
    facts.authors++;
    if (overlapF1(content.author ?? '', truth.author) > 0.8) facts.author++;
  }
  if (truth.publish_date) {
    facts.dates++;
    if (content.publishedAt?.slice(0, 10) === truth.publish_date.slice(0, 10)) facts.date++;
  }
}
for (const [name, values] of scores) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  process.stdout.write(`${name.padEnd(14)} ${mean.toFixed(3)}  (${values.length} pages)\n`);
}
process.stdout.write(tornLines(torn));
const share = (part: number, all: number) => `${((100 * part) / Math.max(1, all)).toFixed(0)} %`;
process.stdout.write(
  `right: title ${share(facts.title, pages.length)}, author ${share(facts.author, facts.authors)}, ` +
    `published ${share(facts.date, facts.dates)}, page type ${share(facts.type, pages.length)}\n`,
);
if (target !== undefined) writeFileSync(target, JSON.stringify(texts));
