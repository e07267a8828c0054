import {
  type AdministrativeRegion,
  countryCoded,
  countryNamed,
  placeKey,
  regionNamed,
  regionsCoded,
} from './place-names.ts';
import { normalizeText } from './text.ts';

/** A place. Fields that the text does not decide are null; `raw` is the whole text. */
interface Location {
  readonly city: string | null;
  readonly region: string | null;
  /** Code of ISO 3166, such as `DE`. */
  readonly country: string | null;
  readonly raw: string;
  readonly isAmbiguous: boolean;
  /** Possible countries, the one in `country` first; empty when certain or unknown. */
  readonly countries: readonly string[];
}

interface LocationHints {
  readonly country?: string | undefined;
}

const MAX_CHARS = 300;
const MAX_PARTS = 8;
const PARTS = /\s*[,;|·•\n]\s*|\s+[-–—/]\s+/;
/** States that are countries of the same name. */
const TWINS: Readonly<Record<string, readonly string[]>> = { georgia: ['GE', 'US'] };
/** Cities that are countries. */
const CITY_STATES: Readonly<Record<string, string>> = {
  SG: 'Singapore',
  MC: 'Monaco',
  VA: 'Vatican City',
  HK: 'Hong Kong',
  MO: 'Macau',
};
/** Letters of a state and a country, where pages mean the country more often. */
const RATHER_COUNTRIES = new Set(['DE', 'IN']);
const REMOTE =
  /^(?:(?:fully |100% )?remote|hybrid|on-?site|home ?office|anywhere|worldwide|global|télétravail|teletrabajo|da remoto|zdalnie|удал[её]нно)\b[\s:–-]*/i;
const POSTAL_FIRST = /^(?:[A-Z]{1,3}-)?\d{4,6}(?:-\d{3})?\s+(?=\p{L})/u;
const POSTAL_LAST =
  /\s+(?:\d{5}(?:-\d{4})?|\d{4,6}|[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}|[A-Z]\d[A-Z]\s?\d[A-Z]\d|\d{4}\s?[A-Z]{2})$/;
const POSTAL_ONLY = /^(?:\d{3,6}(?:-\d{3,4})?|[A-Z]{1,2}\d[A-Z\d]?\s?\d[A-Z]{2}|[A-Z]\d[A-Z]\s?\d[A-Z]\d)$/;
const AREA =
  /^(?:greater\s+(?!london|manchester)|großraum\s+|raum\s+|région de\s+)|\s+(?:area|metropolitan area|metro area|metropolitan region|und umgebung)$/gi;
const STREET = /\d/;
const STREET_NAME =
  /\b(?:street|st\.|road|rd\.?|avenue|ave\.?|lane|drive|square|boulevard|blvd\.?|way|rue|via|calle|avenida|rua|piazza|plaza|place|ulica|ul\.)(?=\s|$)|(?:stra(?:ß|ss)e|str\.|platz|allee|weg|gasse|straat|laan|gatan|gade)$/iu;
/** Countries that stand behind a city without a comma, by letters that no city ends in. */
const LETTERS_BEHIND = /^(.*\p{L}[\p{L}.'’-]*) (UK|U\.K\.|USA|U\.S\.A\.|UAE)$/u;

/** Splits a place as written in profiles, job postings and addresses; null only for an empty text. It never throws. */
export function parseLocation(text: string, hints: LocationHints = {}): Location | null {
  const raw = normalizeText(text.slice(0, MAX_CHARS * 4))
    .slice(0, MAX_CHARS)
    .trim();
  if (raw === '') return null;
  const shown = raw.replace(REMOTE, '').replace(/[()[\]]/g, ',');
  const parts = shown
    .split(PARTS)
    .map((part) => part.trim())
    .filter((part) => part !== '' && !POSTAL_ONLY.test(part) && !REMOTE.test(part))
    .slice(-MAX_PARTS);
  const hint = hints.country?.toUpperCase() ?? null;
  return new PlaceReader(parts, hint, raw).run();
}

class PlaceReader {
  readonly #parts: string[];
  readonly #hint: string | null;
  readonly #raw: string;
  #country: string | null = null;
  #region: string | null = null;
  #countries: readonly string[] = [];

  constructor(parts: readonly string[], hint: string | null, raw: string) {
    this.#parts = [...parts];
    this.#hint = hint;
    this.#raw = raw;
  }

  run(): Location {
    this.#takeCountry();
    this.#takeRegion();
    const city = this.#takeCity();
    return {
      city:
        city ??
        (this.#country === null || this.#region !== null ? null : (CITY_STATES[this.#country] ?? null)),
      region: this.#region,
      country: this.#country,
      raw: this.#raw,
      isAmbiguous: this.#countries.length > 1,
      countries: this.#countries.length > 1 ? this.#countries : [],
    };
  }

  #takeCountry(): void {
    const last = this.#parts.at(-1);
    if (last === undefined) return;
    const twins = TWINS[placeKey(last)];
    if (twins !== undefined) {
      this.#takeTwin(last, twins);
      return;
    }
    const bare = last.replace(POSTAL_LAST, '');
    const states = this.#parts.length > 1 ? regionsCoded(bare) : [];
    const coded = countryCoded(bare);
    const before = this.#parts.at(-2) ?? '';
    // Two letters behind a state are a country: Austin, TX, US. Behind a city they may be either.
    const isBehindState = regionsCoded(before).length > 0 || regionNamed(before) !== null;
    if (coded !== null && states.length > 0 && !isBehindState) {
      this.#takeLetters(coded, states);
      return;
    }
    const behind = LETTERS_BEHIND.exec(bare);
    if (behind !== null && countryNamed(bare) === null) {
      this.#country = countryNamed((behind[2] ?? '').replaceAll('.', ''));
      this.#parts.splice(-1, 1, behind[1] ?? '');
      return;
    }
    const named = coded ?? countryNamed(bare);
    // A state's name is also found here when it stands alone: New York is no country, Mexico is one.
    if (named === null) return;
    this.#country = named;
    this.#parts.pop();
  }

  /** Behind a city it is more often the state, alone more often the country. */
  #takeTwin(last: string, twins: readonly string[]): void {
    this.#parts.pop();
    const isHinted = this.#hint !== null && twins.includes(this.#hint);
    const ordered = this.#parts.length > 0 ? twins.toReversed() : twins;
    this.#country = isHinted ? this.#hint : (ordered[0] ?? null);
    if (this.#country === 'US') this.#region = last;
    if (!isHinted) this.#countries = ordered;
  }

  /** `DE` is Delaware or Germany, `CA` is California or Canada: the hint or a zip code chooses, or both are told. */
  #takeLetters(country: string, states: readonly AdministrativeRegion[]): void {
    this.#parts.pop();
    const wanted = /\s\d{5}(?:-\d{4})?\b/.test(this.#raw) ? 'US' : this.#hint;
    const state = states.find((each) => each.country === wanted);
    const isState = state !== undefined || (wanted !== country && !RATHER_COUNTRIES.has(country));
    const chosen = isState ? (state ?? states[0]) : undefined;
    this.#region = chosen?.name ?? null;
    this.#country = chosen?.country ?? country;
    if (state !== undefined || wanted === country) return;
    const others = [...new Set([...states.map((each) => each.country), country])];
    this.#countries = [this.#country, ...others.filter((each) => each !== this.#country)];
  }

  #takeRegion(): void {
    const last = this.#parts.at(-1)?.replace(POSTAL_LAST, '');
    if (last === undefined || this.#region !== null || this.#countries.length > 0) return;
    const states = regionsCoded(last).filter(
      ({ country }) => this.#country === null || country === this.#country,
    );
    const named = regionNamed(last);
    const hinted = states.find(({ country }) => country === this.#hint) ?? states[0];
    const isAlone = this.#parts.length === 1;
    // New York, Washington and Québec are cities when nothing stands before them.
    const isCity =
      isAlone && /^(?:new york|washington|quebec|sao paulo|rio de janeiro|puebla)$/.test(placeKey(last));
    if (hinted !== undefined && (!isAlone || this.#country !== null)) {
      this.#region = hinted.name;
      this.#country ??= hinted.country;
    } else if (named !== null && !isCity && (this.#country === null || this.#country === named.country)) {
      this.#region = last;
      this.#country ??= named.country;
    } else if (this.#country !== null && !STREET.test(last) && this.#hasCityBefore()) {
      this.#region = last;
    } else return;
    this.#parts.pop();
  }

  /** Before the last part: behind nothing but a street, it is the city itself. */
  #hasCityBefore(): boolean {
    return this.#parts.slice(0, -1).some((part) => !isStreet(part) && !STREET_NAME.test(part));
  }

  /** `Sydney NSW`: a state's letters in the same part as the city. */
  #takeTrailingRegion(): void {
    const last = this.#parts.at(-1)?.replace(POSTAL_LAST, '') ?? '';
    const code = /^(.*\p{L}) ([A-Z]{2,3})$/u.exec(last);
    const region = regionsCoded(code?.[2] ?? '').find(
      ({ country }) => country === (this.#country ?? this.#hint),
    );
    if (code === null || region === undefined || this.#region !== null) return;
    this.#region = region.name;
    this.#country = region.country;
    this.#parts.splice(-1, 1, code[1] ?? '');
  }

  #takeCity(): string | null {
    this.#takeTrailingRegion();
    const part = this.#parts.findLast((each) => !isStreet(each));
    if (part === undefined) return null;
    const city = part.replace(POSTAL_FIRST, '').replace(POSTAL_LAST, '').replace(AREA, '').trim();
    return city === '' ? null : city;
  }
}

function isStreet(part: string): boolean {
  return STREET.test(part.replace(POSTAL_FIRST, '').replace(POSTAL_LAST, ''));
}
