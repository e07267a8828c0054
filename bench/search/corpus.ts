import type { PageRecord } from '../../src/core/model/page.ts';

const VOCABULARY = 50_000;
const WORDS_PER_PAGE = 600;
const TITLE_WORDS = 6;
const SYLLABLES = [
  'ba',
  'ce',
  'di',
  'fo',
  'gu',
  'ha',
  'je',
  'ki',
  'lo',
  'mu',
  'na',
  'pe',
  'ri',
  'so',
  'tu',
  'va',
];

/** Numbers that look random and are the same in every run. */
export function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** The word of a rank; the most frequent has rank 0. Two words never are the same. */
export function wordOf(rank: number): string {
  let word = '';
  for (let rest = rank + SYLLABLES.length; rest > 0; rest = Math.floor(rest / SYLLABLES.length)) {
    word += SYLLABLES[rest % SYLLABLES.length];
  }
  return word;
}

/** A rank by Zipf's law: the second word half as often as the first, and so on, as in the texts of people. */
const rankOf = (random: () => number) => Math.floor(VOCABULARY ** random()) - 1;

/** A page of words as frequent as those of a language. */
export function pageOf(number: number): { readonly title: string; readonly record: PageRecord } {
  const random = createRandom(number + 1);
  const words = (count: number) => Array.from({ length: count }, () => wordOf(rankOf(random))).join(' ');
  return {
    title: words(TITLE_WORDS),
    record: { outcome: 'ok', metadata: null, links: [], searchText: words(WORDS_PER_PAGE) },
  };
}

/** What people may search for, by kind: words that nearly every page has up to words that a few have. */
export const KINDS: Readonly<Record<string, (random: () => number) => string>> = {
  'a rare word': (random) => wordOf(20_000 + Math.floor(random() * 20_000)),
  'a word of one page in a hundred': (random) => wordOf(2_000 + Math.floor(random() * 2_000)),
  'a common word': (random) => wordOf(50 + Math.floor(random() * 200)),
  'two words': (random) => `${wordOf(rankOf(random))} ${wordOf(500 + Math.floor(random() * 5_000))}`,
  'a phrase': (random) => `"${wordOf(Math.floor(random() * 20))} ${wordOf(Math.floor(random() * 200))}"`,
  'a beginning': (random) => `${wordOf(5_000 + Math.floor(random() * 20_000)).slice(0, 5)}*`,
  'a word without another': (random) =>
    `${wordOf(1_000 + Math.floor(random() * 5_000))} -${wordOf(Math.floor(random() * 50))}`,
  'a word of the title': (random) => `title:${wordOf(100 + Math.floor(random() * 2_000))}`,
};
