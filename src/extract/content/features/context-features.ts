import { logistic } from '../model/model.ts';
import { type Block, headingLevel } from './blocks.ts';
import type { ContentEvidence } from './evidence.ts';

const REACHES = [1, 2, 3] as const;
const WINDOWS = [3, 8, 20] as const;
const UPS = [0, 1, 2, 3, 4, 6, 8] as const;

export const CONTEXT_FEATURE_NAMES: readonly string[] = [
  'first:own',
  ...REACHES.flatMap((reach) => [`first:-${reach}`, `first:+${reach}`]),
  ...WINDOWS.flatMap((reach) => [`first:before${reach}`, `first:after${reach}`]),
  ...UPS.map((up) => `first:up${up}`),
  'first:innerUnit',
  'first:innerGroup',
  'first:outerUnit',
  'first:outerGroup',
  'first:alike',
  'first:alikeBlocks',
  'first:heading',
  'first:section',
  'first:page',
  'first:massBefore',
  'first:massAfter',
  'first:sinceSure',
  'first:untilSure',
  'first:alikeLooser',
  'first:twin',
];
export const CONTEXT_FEATURES = CONTEXT_FEATURE_NAMES.length;
const SURE = 0.7;

/**
 * The rows of the second forest: those of the first one, and the scores of the first forest around each block (`sums`).
 */
export function contextFeatures(
  evidence: ContentEvidence,
  rows: Float32Array,
  width: number,
  sums: Float64Array,
): Float32Array {
  const { blocks, tree, shape } = evidence;
  const count = blocks.length;
  const wide = width + CONTEXT_FEATURES;
  const out = new Float32Array(count * wide);
  const chance = Float64Array.from(sums, logistic);
  const before = new Float64Array(count + 1);
  const wordsBefore = new Float64Array(count + 1);
  const mass = new Float64Array(tree.count);
  const weight = new Float64Array(tree.count);
  for (let i = 0; i < count; i++) {
    const { words, container } = blocks[i] as Block;
    const heavy = words + 1;
    before[i + 1] = (before[i] as number) + heavy * (chance[i] as number);
    wordsBefore[i + 1] = (wordsBefore[i] as number) + heavy;
    mass[container] = (mass[container] as number) + heavy * (chance[i] as number);
    weight[container] = (weight[container] as number) + heavy;
  }
  for (let node = tree.count - 1; node > 0; node--) {
    const parent = tree.parents[node] as number;
    mass[parent] = (mass[parent] as number) + (mass[node] as number);
    weight[parent] = (weight[parent] as number) + (weight[node] as number);
  }
  const meanIn = (node: number): number => (mass[node] as number) / Math.max(1, weight[node] as number);
  const meanOf = (from: number, to: number): number => {
    const low = Math.max(0, from);
    const high = Math.min(count, to);
    if (low >= high) return 0;
    return (
      ((before[high] as number) - (before[low] as number)) /
      ((wordsBefore[high] as number) - (wordsBefore[low] as number))
    );
  };
  const close = groupMeans(blocks, chance, (block) => styleHashOf(evidence, block, 3));
  const loose = groupMeans(blocks, chance, (block) => styleHashOf(evidence, block, 1));
  const twins = groupMeans(blocks, chance, ({ text }) => text);
  const { sections, sectionOf, headings } = sectionsOf(evidence, chance);
  const sinceSure = distances(chance, 1);
  const untilSure = distances(chance, -1);
  const all = Math.max(1e-9, before[count] as number);
  for (let i = 0; i < count; i++) {
    const block = blocks[i] as Block;
    const start = i * wide;
    out.set(rows.subarray(i * width, (i + 1) * width), start);
    let at = start + width;
    out[at++] = sums[i] as number;
    for (const reach of REACHES) {
      out[at++] = chance[i - reach] ?? 0;
      out[at++] = chance[i + reach] ?? 0;
    }
    for (const reach of WINDOWS) {
      out[at++] = meanOf(i - reach, i);
      out[at++] = meanOf(i + 1, i + 1 + reach);
    }
    let node = block.container;
    let up = 0;
    for (const wanted of UPS) {
      while (up < wanted && node > 0) {
        node = tree.parents[node] as number;
        up++;
      }
      out[at++] = meanIn(node);
    }
    for (const unit of [
      shape.innerUnit[block.container] as number,
      shape.outerUnit[block.container] as number,
    ]) {
      out[at++] = unit === 0 ? -1 : meanIn(unit);
      out[at++] = unit === 0 ? -1 : meanIn(tree.parents[unit] as number);
    }
    const group = close.of(block);
    out[at++] = group.mean;
    out[at++] = Math.log1p(group.blocks);
    const heading = headings[i] as number;
    out[at++] = heading < 0 ? -1 : (chance[heading] as number);
    out[at++] = sections[sectionOf[i] as number] as number;
    out[at++] = all / Math.max(1, wordsBefore[count] as number);
    out[at++] = (before[i] as number) / all;
    out[at++] = 1 - (before[i + 1] as number) / all;
    out[at++] = sinceSure[i] as number;
    out[at++] = untilSure[i] as number;
    out[at++] = loose.of(block).mean;
    out[at++] = twins.of(block).mean - (chance[i] as number);
  }
  return out;
}

/** A hash of the styles of the container and of `up` elements around it. */
function styleHashOf({ tree, elements }: ContentEvidence, block: Block, up: number): number {
  let hash = 17;
  let node = block.container;
  for (let step = 0; step <= up && node > 0; step++) {
    hash = (Math.imul(hash, 1_000_003) + (elements.styleHashes[node] as number)) | 0;
    node = tree.parents[node] as number;
  }
  return hash;
}

interface Group {
  readonly mean: number;
  readonly blocks: number;
}

function groupMeans<Key>(
  blocks: readonly Block[],
  chance: Float64Array,
  keyOf: (block: Block) => Key,
): { of(block: Block): Group } {
  const groups = new Map<Key, { mass: number; weight: number; blocks: number }>();
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i] as Block;
    const key = keyOf(block);
    const group = groups.get(key) ?? { mass: 0, weight: 0, blocks: 0 };
    group.mass += (block.words + 1) * (chance[i] as number);
    group.weight += block.words + 1;
    group.blocks++;
    groups.set(key, group);
  }
  return {
    of(block) {
      const group = groups.get(keyOf(block));
      return group === undefined
        ? { mean: 0, blocks: 0 }
        : { mean: group.mass / group.weight, blocks: group.blocks };
    },
  };
}

/** A section goes from one heading to the next. */
function sectionsOf(
  { tree, blocks }: ContentEvidence,
  chance: Float64Array,
): { sections: number[]; sectionOf: Int32Array; headings: Int32Array } {
  const sections: number[] = [];
  const sectionOf = new Int32Array(blocks.length);
  const headings = new Int32Array(blocks.length).fill(-1);
  let heading = -1;
  let mass = 0;
  let weight = 0;
  for (let i = 0; i < blocks.length; i++) {
    const block = blocks[i] as Block;
    headings[i] = heading;
    if (headingLevel(tree, block) > 0) {
      sections.push(mass / Math.max(1, weight));
      mass = 0;
      weight = 0;
      heading = i;
    }
    mass += (block.words + 1) * (chance[i] as number);
    weight += block.words + 1;
    sectionOf[i] = sections.length;
  }
  sections.push(mass / Math.max(1, weight));
  return { sections, sectionOf, headings };
}

/** Distance in blocks to the last (or next) block that is very likely content. */
function distances(chance: Float64Array, step: 1 | -1): Float64Array {
  const out = new Float64Array(chance.length);
  let distance = 60;
  for (let n = 0, i = step === 1 ? 0 : chance.length - 1; n < chance.length; n++, i += step) {
    out[i] = distance;
    distance = (chance[i] as number) >= SURE ? 1 : Math.min(60, distance + 1);
  }
  return out;
}
