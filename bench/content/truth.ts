// Which blocks of a page belong to its main content, told from the text a person marked.
const WORD = /[\p{L}\p{N}_]+/gu;
const GRAM = 5;
const MOST_CELLS = 16_000_000;

export const wordsOf = (text: string): string[] => text.toLowerCase().match(WORD) ?? [];

/** Word-overlap F1, as the ground truth is scored. */
export function overlapF1(predicted: string, reference: string): number {
  const p = wordsOf(predicted);
  const r = wordsOf(reference);
  if (r.length === 0) return p.length === 0 ? 1 : 0;
  if (p.length === 0) return 0;
  const left = new Map<string, number>();
  for (const word of r) left.set(word, (left.get(word) ?? 0) + 1);
  let overlap = 0;
  for (const word of p) {
    const count = left.get(word) ?? 0;
    if (count === 0) continue;
    left.set(word, count - 1);
    overlap++;
  }
  return (2 * overlap) / (p.length + r.length);
}

/** By block: the share of its words that the reference holds at the same place in the order. */
export function shareInReference(blocks: readonly string[], reference: string): Float64Array {
  const ofToken: number[] = [];
  const tokens: string[] = [];
  for (const [index, text] of blocks.entries()) {
    for (const word of wordsOf(text)) {
      tokens.push(word);
      ofToken.push(index);
    }
  }
  const wanted = wordsOf(reference);
  const matched = new Uint8Array(tokens.length);
  const used = new Uint8Array(wanted.length);
  align(tokens, wanted, matched, used);
  const total = new Float64Array(blocks.length);
  const hits = new Float64Array(blocks.length);
  for (let i = 0; i < tokens.length; i++) {
    const block = ofToken[i] as number;
    total[block] = (total[block] as number) + 1;
    hits[block] = (hits[block] as number) + (matched[i] as number);
  }
  rescue(tokens, ofToken, wanted, used, total, hits);
  return hits.map((count, block) => count / Math.max(1, total[block] as number));
}

/** Blocks that the reference holds somewhere else in the order: all their words are still unused there, in runs of three. */
function rescue(
  tokens: readonly string[],
  ofToken: readonly number[],
  wanted: readonly string[],
  used: Uint8Array,
  total: Float64Array,
  hits: Float64Array,
): void {
  const left = new Map<string, number>();
  for (let i = 0; i + 2 < wanted.length; i++) {
    if (used[i] === 1 || used[i + 1] === 1 || used[i + 2] === 1) continue;
    const gram = `${wanted[i]} ${wanted[i + 1]} ${wanted[i + 2]}`;
    left.set(gram, (left.get(gram) ?? 0) + 1);
  }
  for (let start = 0; start < tokens.length; ) {
    const block = ofToken[start] as number;
    const count = total[block] as number;
    if (count >= 4 && (hits[block] as number) < count * 0.5) {
      let found = 0;
      for (let i = start; i + 2 < start + count; i++) {
        const gram = `${tokens[i]} ${tokens[i + 1]} ${tokens[i + 2]}`;
        const rest = left.get(gram) ?? 0;
        if (rest === 0) continue;
        left.set(gram, rest - 1);
        found++;
      }
      if (found >= (count - 2) * 0.7) hits[block] = count * (found / (count - 2));
    }
    start += count;
  }
}

/** Marks what both sides have in common: first the rare runs of words in a rising order, then what lies between them. */
function align(a: readonly string[], b: readonly string[], matchedA: Uint8Array, matchedB: Uint8Array): void {
  const anchors = anchorsOf(a, b);
  let fromA = 0;
  let fromB = 0;
  for (const [atA, atB] of [...anchors, [a.length, b.length] as const]) {
    if (atA < fromA || atB < fromB) continue;
    common(a, b, fromA, atA, fromB, atB, matchedA, matchedB);
    let run = 0;
    while (atA + run < a.length && atB + run < b.length && a[atA + run] === b[atB + run]) {
      matchedA[atA + run] = 1;
      matchedB[atB + run] = 1;
      run++;
    }
    fromA = atA + run;
    fromB = atB + run;
  }
}

function anchorsOf(a: readonly string[], b: readonly string[]): (readonly [number, number])[] {
  const places = (list: readonly string[]): Map<string, number> => {
    const map = new Map<string, number>();
    for (let i = 0; i + GRAM <= list.length; i++) {
      const gram = list.slice(i, i + GRAM).join(' ');
      map.set(gram, map.has(gram) ? -1 : i);
    }
    return map;
  };
  const inB = places(b);
  const pairs: [number, number][] = [];
  for (const [gram, at] of places(a)) {
    const other = inB.get(gram);
    if (at >= 0 && other !== undefined && other >= 0) pairs.push([at, other]);
  }
  pairs.sort((x, y) => x[0] - y[0]);
  return risingOf(pairs);
}

function risingOf(pairs: readonly [number, number][]): [number, number][] {
  const tails: number[] = [];
  const before = new Int32Array(pairs.length).fill(-1);
  for (const [index, [, value]] of pairs.entries()) {
    let low = 0;
    let high = tails.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((pairs[tails[middle] as number] as [number, number])[1] < value) low = middle + 1;
      else high = middle;
    }
    if (low > 0) before[index] = tails[low - 1] as number;
    tails[low] = index;
  }
  const rising: [number, number][] = [];
  for (let at = tails.at(-1) ?? -1; at >= 0; at = before[at] as number)
    rising.push(pairs[at] as [number, number]);
  return rising.reverse();
}

/** The longest common subsequence of two stretches. */
function common(
  a: readonly string[],
  b: readonly string[],
  fromA: number,
  toA: number,
  fromB: number,
  toB: number,
  matchedA: Uint8Array,
  matchedB: Uint8Array,
): void {
  const rows = toA - fromA;
  const columns = toB - fromB;
  if (rows === 0 || columns === 0 || rows * columns > MOST_CELLS) return;
  const width = columns + 1;
  const lengths = new Uint16Array((rows + 1) * width);
  for (let i = rows - 1; i >= 0; i--) {
    for (let j = columns - 1; j >= 0; j--) {
      lengths[i * width + j] =
        a[fromA + i] === b[fromB + j]
          ? (lengths[(i + 1) * width + j + 1] as number) + 1
          : Math.max(lengths[(i + 1) * width + j] as number, lengths[i * width + j + 1] as number);
    }
  }
  let i = 0;
  let j = 0;
  while (i < rows && j < columns) {
    if (a[fromA + i] === b[fromB + j]) {
      matchedA[fromA + i] = 1;
      matchedB[fromB + j] = 1;
      i++;
      j++;
    } else if ((lengths[(i + 1) * width + j] as number) >= (lengths[i * width + j + 1] as number)) i++;
    else j++;
  }
}
