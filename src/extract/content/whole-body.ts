import type { Evidence } from './block-features.ts';
import type { Block } from './blocks.ts';
import { MARK } from './element-marks.ts';
import { logistic } from './forest.ts';
import { PAGE_TYPES } from './page-type.ts';

const DOCUMENTATION = PAGE_TYPES.indexOf('documentation');
const LEAST_CHANCE = 0.4;
/** The body is the innermost element with this share of all that looks like content … */
const BODY_SHARE = 0.8;
/** … if so much of what it holds does. */
const LEAST_MEAN = 0.5;
const MOST_BONUS = 4;
const AWAY = MARK.nav | MARK.footer | MARK.aside | MARK.dialog | MARK.unseen | MARK.form | MARK.button;

/**
 * Documentation is read whole: code, short definitions and small headings between paragraphs look like anything else,
 * but belong to the text around them. The surer the body as a whole, the more its blocks gain. Changes `sums`.
 */
export function wholeBody(
  { tree, blocks, shape }: Evidence,
  types: ArrayLike<number>,
  sums: Float64Array,
): void {
  if ((types[DOCUMENTATION] ?? 0) < LEAST_CHANCE) return;
  const mass = new Float64Array(tree.count);
  for (let index = 0; index < blocks.length; index++) {
    const { container, words } = blocks[index] as Block;
    mass[container] = (mass[container] as number) + words * logistic(sums[index] as number);
  }
  for (let node = tree.count - 1; node > 0; node--) {
    const parent = tree.parents[node] as number;
    mass[parent] = (mass[parent] as number) + (mass[node] as number);
  }
  let body = 0;
  for (let child = 0; child >= 0; ) {
    body = child;
    child = tree.firstChild(body);
    while (child >= 0 && (mass[child] as number) < (mass[0] as number) * BODY_SHARE)
      child = tree.nextSibling(child);
  }
  const mean = (mass[body] as number) / Math.max(1, shape.words[body] as number);
  if (mean < LEAST_MEAN) return;
  const bonus = (MOST_BONUS * (mean - LEAST_MEAN)) / (1 - LEAST_MEAN);
  const end = tree.ends[body] as number;
  const outside = shape.marksAround[body] as number;
  for (let index = 0; index < blocks.length; index++) {
    const { container, first } = blocks[index] as Block;
    if (first <= body || first >= end) continue;
    if (((shape.marksAround[container] as number) & ~outside & AWAY) !== 0) continue;
    sums[index] = (sums[index] as number) + bonus;
  }
}
