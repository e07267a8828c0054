import { visitTokens } from '../../src/extract/content/features/block-tokens.ts';
// Logistic regression over the tokens of blocks: which words and names speak for content and which against it.
import type { ContentEvidence } from '../../src/extract/content/features/evidence.ts';
import { logistic, TOKEN_SOURCES, type TokenWeights } from '../../src/extract/content/model/model.ts';

/** A token that fewer sites use says something about them, not about pages. */
const LEAST_SITES = 8;
const PLAIN = /^<?[\p{L}\p{N}_-]+$/u;
const ROUNDS = 50;
const MEMORY = 8;

/** The tokens of one page: `starts` by block into `ids`. */
interface PageTokens {
  readonly starts: Int32Array;
  readonly ids: Int32Array;
}

interface Vocabulary {
  readonly tokens: readonly { readonly source: number; readonly token: string }[];
  readonly pages: readonly PageTokens[];
}

/** Reads the tokens of all pages; `sites` are the sites the pages are from. */
export function readVocabulary(evidences: readonly ContentEvidence[], sites: readonly string[]): Vocabulary {
  const ids = new Map<string, number>();
  const tokens: { source: number; token: string }[] = [];
  const seen: Set<string>[] = [];
  const raw = evidences.map((evidence, page) => {
    const starts = new Int32Array(evidence.blocks.length + 1);
    const all: number[] = [];
    visitTokens(evidence, (block, source, token) => {
      const key = `${source}${token}`;
      let id = ids.get(key);
      if (id === undefined) {
        id = tokens.length;
        ids.set(key, id);
        tokens.push({ source, token });
        seen.push(new Set());
      }
      (seen[id] as Set<string>).add(sites[page] as string);
      all.push(id);
      starts[block + 1] = all.length;
    });
    for (let i = 1; i < starts.length; i++)
      starts[i] = Math.max(starts[i] as number, starts[i - 1] as number);
    return { starts, ids: Int32Array.from(all) };
  });
  const place = new Int32Array(tokens.length).fill(-1);
  const kept: { source: number; token: string }[] = [];
  for (const [id, entry] of tokens.entries()) {
    if ((seen[id] as Set<string>).size < LEAST_SITES || !PLAIN.test(entry.token)) continue;
    place[id] = kept.length;
    kept.push(entry);
  }
  const pages = raw.map(({ starts, ids: own }) => {
    const fresh: number[] = [];
    const moved = new Int32Array(starts.length);
    for (let block = 0; block + 1 < starts.length; block++) {
      for (let at = starts[block] as number; at < (starts[block + 1] as number); at++) {
        const to = place[own[at] as number] as number;
        if (to >= 0) fresh.push(to);
      }
      moved[block + 1] = fresh.length;
    }
    return { starts: moved, ids: Int32Array.from(fresh) };
  });
  return { tokens: kept, pages };
}

export interface TokenPage {
  readonly tokens: PageTokens;
  readonly labels: Float32Array;
  readonly weights: Float32Array;
}

/** Weights for the tokens of two of the sources; `restraint` pulls them towards zero. */
function fit(
  { tokens }: Vocabulary,
  pages: readonly TokenPage[],
  isUsed: (source: number) => boolean,
  restraint: number,
): Float64Array {
  const count = tokens.length;
  const used = Uint8Array.from(tokens, ({ source }) => (isUsed(source) ? 1 : 0));
  let all = 0;
  for (const { weights } of pages) for (const weight of weights) all += weight;
  const gradientAt = (at: Float64Array): { loss: number; gradient: Float64Array } => {
    const gradient = new Float64Array(count + 1);
    let loss = 0;
    for (const { tokens: own, labels, weights } of pages) {
      const { starts, ids } = own;
      for (let block = 0; block < labels.length; block++) {
        const weight = (weights[block] as number) / all;
        if (weight === 0) continue;
        let sum = at[count] as number;
        for (let i = starts[block] as number; i < (starts[block + 1] as number); i++) {
          const id = ids[i] as number;
          if (used[id] === 1) sum += at[id] as number;
        }
        const label = labels[block] as number;
        const step = weight * (logistic(sum) - label);
        loss += weight * (Math.max(sum, 0) + Math.log1p(Math.exp(-Math.abs(sum))) - label * sum);
        gradient[count] = (gradient[count] as number) + step;
        for (let i = starts[block] as number; i < (starts[block + 1] as number); i++) {
          const id = ids[i] as number;
          if (used[id] === 1) gradient[id] = (gradient[id] as number) + step;
        }
      }
    }
    for (let id = 0; id < count; id++) {
      const value = at[id] as number;
      loss += (restraint * value * value) / 2;
      gradient[id] = (gradient[id] as number) + restraint * value;
    }
    return { loss, gradient };
  };
  return descend(gradientAt, count + 1);
}

type Slope = (at: Float64Array) => { loss: number; gradient: Float64Array };

/** L-BFGS: steps down a convex slope, with the last few steps as a memory of how it bends. */
function descend(slope: Slope, size: number): Float64Array {
  let at = new Float64Array(size);
  let here = slope(at);
  const steps: { move: Float64Array; turn: Float64Array; share: number }[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const way = here.gradient.slice();
    const parts: number[] = [];
    for (const { move, turn, share } of steps.toReversed()) {
      const part = share * dot(move, way);
      parts.push(part);
      add(way, turn, -part);
    }
    const last = steps.at(-1);
    const scale = last === undefined ? 1 : dot(last.move, last.turn) / dot(last.turn, last.turn);
    for (let i = 0; i < size; i++) way[i] = (way[i] as number) * scale;
    for (const { move, turn, share } of steps) {
      const part = (parts.pop() as number) - share * dot(turn, way);
      add(way, move, part);
    }
    const fall = dot(way, here.gradient);
    let length = 1;
    let next = at;
    let there = here;
    for (let attempt = 0; attempt < 20; attempt++, length /= 2) {
      next = at.slice();
      add(next, way, -length);
      there = slope(next);
      if (there.loss <= here.loss - 1e-4 * length * fall) break;
    }
    if (there.loss >= here.loss) return at;
    const move = next.slice();
    add(move, at, -1);
    const turn = there.gradient.slice();
    add(turn, here.gradient, -1);
    const bend = dot(move, turn);
    if (bend > 1e-12) steps.push({ move, turn, share: 1 / bend });
    if (steps.length > MEMORY) steps.shift();
    at = next;
    here = there;
  }
  return at;
}

function dot(a: Float64Array, b: Float64Array): number {
  let sum = 0;
  for (let i = 0; i < a.length; i++) sum += (a[i] as number) * (b[i] as number);
  return sum;
}

function add(to: Float64Array, what: Float64Array, times: number): void {
  for (let i = 0; i < to.length; i++) to[i] = (to[i] as number) + times * (what[i] as number);
}

/** Text and names are learned apart, so that each is asked for all it knows. */
export function fitTokens(vocabulary: Vocabulary, pages: readonly TokenPage[]): TokenWeights {
  const text = fit(vocabulary, pages, (source) => source < 2, 1e-3);
  const names = fit(vocabulary, pages, (source) => source >= 2, 2e-3);
  const maps = TOKEN_SOURCES.map(() => new Map<string, number>());
  for (const [id, { source, token }] of vocabulary.tokens.entries()) {
    maps[source]?.set(token, ((source < 2 ? text : names)[id] as number) ?? 0);
  }
  return maps;
}
