import { TAG, type TagName } from '../../html/tag.ts';
import { ELEMENT_FLAG } from '../features/element-flags.ts';
import type { ContentEvidence } from '../features/evidence.ts';

/** A text at its place: a block, or a structure that is one text. */
export interface PlacedText {
  /** The element that holds it. */
  readonly node: number;
  readonly words: number;
  readonly isStructure: boolean;
}

/** Elements that hold cards and rows; a paragraph is a text by itself, whatever is beside it. */
const CARDS = new Uint8Array(256);
for (const name of ['div', 'li', 'tr', 'article', 'section', 'details', 'tbody'] satisfies TagName[])
  CARDS[TAG[name]] = 1;
CARDS[0] = 1;
const LEAST_CARDS = 3;
/** Texts at the same place in this share of the cards belong to their shape … */
const REGULAR_CARDS = 0.5;
/** … and cards are of equal shape when such texts have this share of their words. */
const REGULAR_WORDS = 0.6;

/**
 * Most texts and words per card: posts, reviews and articles in a row are texts of their own, of which some may be content
 * and others not.
 */
const ROLE_LIMITS = { texts: 1.2, words: 30, structureWords: 120 } as const;

interface Role {
  readonly run: number;
  /** Cards with a text at this place. */
  cards: number;
  lastCard: number;
  texts: number;
  words: number;
  readonly mostWords: number;
}

/**
 * By text: a number that texts share which stand at the same place in siblings of equal shape (the prices of cards, the
 * bullets of plans); -1 for all others. Linear in the page.
 */
export function rolesOf(
  { tree, elements, shape }: ContentEvidence,
  texts: readonly PlacedText[],
): Int32Array {
  const { parents, tags, count } = tree;
  const cardOf = new Int32Array(count);
  const paths = new Int32Array(count);
  for (let node = 1; node < count; node++) {
    if (tree.isText(node)) continue;
    const parent = parents[node] as number;
    const style = elements.styleHashes[node] as number;
    const isItem = ((elements.flags[node] as number) & ELEMENT_FLAG.item) !== 0;
    // A generic element without a class has the style of its tag alone, which says nothing.
    const isCard =
      CARDS[tags[node] as number] === 1 &&
      (shape.alike[node] as number) >= LEAST_CARDS &&
      (isItem || tags[node] === TAG.tr || style !== tags[node]);
    cardOf[node] = isCard ? node : (cardOf[parent] as number);
    paths[node] = isCard ? 0 : (Math.imul(paths[parent] as number, 1_000_003) + style) | 0;
  }
  const runs = new Map<number, { cards: number; lastCard: number; words: number; regular: number }>();
  const roles = new Map<string, Role>();
  const keys = texts.map(({ node, words, isStructure }) => {
    const mostWords = isStructure ? ROLE_LIMITS.structureWords : ROLE_LIMITS.words;
    const card = cardOf[node] as number;
    if (card === 0) return null;
    const run = (parents[card] as number) * 4_294_967_296 + ((elements.styleHashes[card] as number) >>> 0);
    const all = runs.get(run) ?? { cards: 0, lastCard: 0, words: 0, regular: 0 };
    if (all.lastCard !== card) all.cards++;
    all.lastCard = card;
    all.words += words;
    runs.set(run, all);
    const key = `${run} ${paths[node]}`;
    const role = roles.get(key) ?? { run, cards: 0, lastCard: 0, texts: 0, words: 0, mostWords };
    role.texts++;
    if (role.lastCard !== card) role.cards++;
    role.lastCard = card;
    role.words += words;
    roles.set(key, role);
    return key;
  });
  const isRegular = ({ run, cards, texts: count, words, mostWords }: Role): boolean =>
    cards >= Math.max(2, (runs.get(run)?.cards ?? 0) * REGULAR_CARDS) &&
    count <= cards * ROLE_LIMITS.texts &&
    words <= cards * mostWords;
  for (const role of roles.values()) {
    const run = runs.get(role.run);
    if (run !== undefined && isRegular(role)) run.regular += role.words;
  }
  const numbers = new Map<string, number>();
  return Int32Array.from(keys, (key) => {
    const role = key === null ? undefined : roles.get(key);
    const run = role === undefined ? undefined : runs.get(role.run);
    if (key === null || role === undefined || run === undefined || !isRegular(role)) return -1;
    if (run.cards < LEAST_CARDS || run.regular < run.words * REGULAR_WORDS) return -1;
    const number = numbers.get(key) ?? numbers.size;
    numbers.set(key, number);
    return number;
  });
}
