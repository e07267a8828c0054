import { fold, lowerInPlace } from './fold.ts';

/** A rating on a scale. */
export interface Rating {
  readonly value: number;
  /** Best value of the scale; null when unknown. */
  readonly best: number | null;
  /** Between 0 and 1; null without a best. */
  readonly share: number | null;
}

const NUMBER = '(\\d{1,4}(?:[.,]\\d{1,3})?)';
const OF = new RegExp(
  `(?<![\\d.,])${NUMBER} ?(?:/|out of|of|von|sur|de|su|em|van|z|ze|av|af|ud af|из|із|з|üzerinden|από|sobre|din|中|dari|trên|จาก|من|מתוך) ?${NUMBER}(?![\\d.,]*\\d)`,
  'u',
);
/** 5点満点中4.5: the scale comes first. */
const SCALE_FIRST =
  /(\d{1,3}) ?(?:つ星|点満点|段階|점 만점|分满分|分滿分)[^\d]{0,8}(\d{1,3}(?:[.,]\d{1,3})?)/;
const PERCENT = new RegExp(`(?<![\\d.,])${NUMBER} ?[%٪]`);
const FIRST = new RegExp(`(?<![\\d.,])${NUMBER}(?![\\d.,]*\\d)`);
const FULL_STARS = /[★⭐🌟]/gu;
const ALL_STARS = /[★☆⭐🌟✩✰]/gu;
const HALF = /[½]|1⁄2/;

const number = (text: string | undefined): number => Number((text ?? '').replace(',', '.'));

function rated(value: number, best: number | null): Rating | null {
  if (!Number.isFinite(value) || (best !== null && (best <= 0 || value > best))) return null;
  return { value, best, share: best === null ? null : Number((value / best).toPrecision(12)) };
}

/** Reads `4.5/5`, `4,5 von 5`, `90%`, `★★★★☆`, a bare `4.5`; null when there is no rating or it exceeds its scale. */
export function parseRating(text: string, best: number | null = null): Rating | null {
  const stars = starsOf(text.slice(0, 300));
  const lower = lowerInPlace(fold(text, 300));
  const scaleFirst = SCALE_FIRST.exec(lower);
  if (scaleFirst !== null) return rated(number(scaleFirst[2]), number(scaleFirst[1]));
  const of = OF.exec(lower);
  if (of !== null) return rated(number(of[1]), number(of[2]));
  const percent = PERCENT.exec(lower);
  if (percent !== null) return rated(number(percent[1]), 100);
  const first = FIRST.exec(lower);
  if (first !== null) return rated(number(first[1]), best ?? stars?.best ?? null);
  return stars;
}

function starsOf(text: string): Rating | null {
  const all = text.match(ALL_STARS)?.length ?? 0;
  const full = (text.match(FULL_STARS)?.length ?? 0) + (HALF.test(text) ? 0.5 : 0);
  if (all === 0 || all > 10) return null;
  return rated(full, Math.max(all, 5));
}
