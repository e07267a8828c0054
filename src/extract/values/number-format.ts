import { ownString } from '../../lib/own-memory.ts';

/** The number format of a locale. */
export interface NumberFormat {
  readonly decimal: '.' | ',';
}

/** Formats and regions of locales seen so far; a crawl meets few, and hostile ones must not fill the memory. */
const MAX_CACHED = 256;
const formats = new Map<string, NumberFormat | null>();
const regions = new Map<string, string | null>();

function remember<T>(cache: Map<string, T>, key: string, make: () => T): T {
  const known = cache.get(key);
  if (known !== undefined || cache.has(key)) return known as T;
  if (cache.size >= MAX_CACHED) cache.clear();
  const made = make();
  cache.set(ownString(key), made);
  return made;
}

function localeOf(tag: string): Intl.Locale | null {
  if (tag.length > 64) return null;
  try {
    return new Intl.Locale(tag.trim().replaceAll('_', '-'));
  } catch {
    return null;
  }
}

/** The tag in a form Intl takes, or null for what is no language tag. */
export function cleanLocale(tag: string | undefined): string | null {
  return tag === undefined ? null : (localeOf(tag)?.baseName ?? null);
}

/** ISO 3166 code of the region a locale names; `isGuessed` takes the likeliest region of a bare language. */
export function regionOf(tag: string | undefined, isGuessed = false): string | null {
  if (tag === undefined) return null;
  return remember(regions, `${isGuessed}${tag}`, () => {
    const locale = localeOf(tag);
    return (isGuessed ? locale?.maximize().region : locale?.region) ?? null;
  });
}

/** The decimal sign of a locale, or of the main language of a country; null when neither is known. */
export function numberFormatOf(locale: string | undefined, country: string | undefined): NumberFormat | null {
  const place = country !== undefined && /^[a-z]{2}$/i.test(country) ? country.toUpperCase() : null;
  let tag = cleanLocale(locale);
  // A language with the country says more than either: German is written with points in Switzerland.
  if (tag !== null && place !== null && !tag.includes('-')) tag = `${tag}-${place}`;
  if (tag === null && place !== null) tag = localeOf(`und-${place}`)?.maximize().baseName ?? null;
  const known = tag;
  if (known === null) return null;
  return remember(formats, known, () => {
    const parts = new Intl.NumberFormat(`${known}-u-nu-latn`).formatToParts(1.5);
    const decimal = parts.find(({ type }) => type === 'decimal')?.value;
    return decimal === ',' || decimal === '.' ? { decimal } : null;
  });
}
