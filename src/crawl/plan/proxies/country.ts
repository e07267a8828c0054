let regions: Intl.DisplayNames | null = null;
/** Codes that name no country, though the tables know them. */
const NOT_COUNTRIES: ReadonlySet<string> = new Set(['eu', 'ez', 'un', 'qo', 'xa', 'xb', 'zz']);

/** `DE` and `de` are `de`; null for text that is no ISO 3166 code of two letters. */
export function countryCode(text: string): string | null {
  const code = text.toLowerCase();
  if (!/^[a-z]{2}$/.test(code) || NOT_COUNTRIES.has(code)) return null;
  return regionNames().of(code.toUpperCase()) === undefined ? null : code;
}

/** For a reader: `Germany`. */
export function countryName(code: string): string {
  return regionNames().of(code.toUpperCase()) ?? code;
}

/** Made when it is first asked for: its tables take a while to load, and most commands name no country. */
function regionNames(): Intl.DisplayNames {
  regions ??= new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });
  return regions;
}
