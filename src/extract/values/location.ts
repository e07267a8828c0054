import { fold, lowerInPlace, normalizeText, withoutAccents } from './text.ts';

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

/** Languages in which countries are known by name. */
const LANGUAGES =
  'en de fr es it pt nl pl cs sv da nb fi ru uk tr el hu ro ja zh zh-Hant ko ar he hi th vi id'.split(' ');

const CODES =
  'AD AE AF AG AI AL AM AO AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BM BN BO BR BS BT BW BY BZ CA CD CF CG CH CI CK CL CM CN CO CR CU CV CW CY CZ DE DJ DK DM DO DZ EC EE EG ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GT GU GW GY HK HN HR HT HU ID IE IL IM IN IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MG MH MK ML MM MN MO MQ MR MS MT MU MV MW MX MY MZ NA NC NE NG NI NL NO NP NR NZ OM PA PE PF PG PH PK PL PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SK SL SM SN SO SR SS ST SV SY SZ TC TD TG TH TJ TL TM TN TO TR TT TV TW TZ UA UG US UY UZ VA VC VE VG VI VN VU WS XK YE YT ZA ZM ZW'.split(
    ' ',
  );

const ALIASES: Readonly<Record<string, string>> = {
  usa: 'US',
  'u.s.a.': 'US',
  'u.s.': 'US',
  'united states of america': 'US',
  america: 'US',
  uk: 'GB',
  'u.k.': 'GB',
  'great britain': 'GB',
  britain: 'GB',
  england: 'GB',
  scotland: 'GB',
  wales: 'GB',
  'northern ireland': 'GB',
  holland: 'NL',
  'the netherlands': 'NL',
  'czech republic': 'CZ',
  macedonia: 'MK',
  'ivory coast': 'CI',
  burma: 'MM',
  'hong kong': 'HK',
  macau: 'MO',
  'south korea': 'KR',
  'republic of korea': 'KR',
  korea: 'KR',
  'russian federation': 'RU',
  'p.r. china': 'CN',
  'pr china': 'CN',
  "people's republic of china": 'CN',
  uae: 'AE',
  'u.a.e.': 'AE',
  turkey: 'TR',
  'viet nam': 'VN',
  deutschland: 'DE',
  brd: 'DE',
  eire: 'IE',
  'republic of ireland': 'IE',
  brasil: 'BR',
  méxico: 'MX',
  schweiz: 'CH',
  suisse: 'CH',
  svizzera: 'CH',
};

/** Codes of three letters that addresses use. */
const THREE_LETTERS =
  'USA=US GBR=GB DEU=DE GER=DE FRA=FR ESP=ES ITA=IT NLD=NL BEL=BE CHE=CH SUI=CH AUT=AT POL=PL CZE=CZ SVK=SK HUN=HU ROU=RO BGR=BG GRC=GR PRT=PT IRL=IE DNK=DK SWE=SE NOR=NO FIN=FI ISL=IS EST=EE LVA=LV LTU=LT LUX=LU RUS=RU UKR=UA TUR=TR ISR=IL ARE=AE SAU=SA EGY=EG ZAF=ZA NGA=NG KEN=KE IND=IN PAK=PK BGD=BD CHN=CN JPN=JP KOR=KR TWN=TW HKG=HK SGP=SG MYS=MY THA=TH VNM=VN IDN=ID PHL=PH AUS=AU NZL=NZ CAN=CA MEX=MX BRA=BR ARG=AR CHL=CL COL=CO PER=PE';

const placeKey = (name: string): string =>
  withoutAccents(lowerInPlace(fold(name, 100)))
    .replace(/^the /, '')
    .trim();

let names: ReadonlyMap<string, string> | null = null;

/** Names of countries in all languages; made when first asked for. */
function countryNames(): ReadonlyMap<string, string> {
  if (names !== null) return names;
  const table = new Map<string, string>();
  for (const language of LANGUAGES) {
    const display = new Intl.DisplayNames(language, { type: 'region' });
    for (const code of CODES) {
      const key = placeKey(display.of(code) ?? '');
      if (key !== '' && !table.has(key)) table.set(key, code);
    }
  }
  for (const [alias, code] of Object.entries(ALIASES)) table.set(placeKey(alias), code);
  for (const pair of THREE_LETTERS.split(' ')) {
    const [long = '', code = ''] = pair.split('=');
    if (!table.has(long.toLowerCase())) table.set(long.toLowerCase(), code);
  }
  names = table;
  return names;
}

const CODE_SET = new Set(CODES);

/** ISO 3166 code of a country by name or alias in some thirty languages; null when it names none. */
function countryNamed(text: string): string | null {
  return countryNames().get(placeKey(text)) ?? null;
}

/** The code itself, when the text is one in capitals. */
function countryCoded(text: string): string | null {
  const code = text.trim();
  if (code === 'UK') return 'GB';
  return CODE_SET.has(code) ? code : null;
}

interface AdministrativeRegion {
  readonly name: string;
  readonly country: string;
}

/** States and provinces that are known by letters. */
const CODED: Readonly<Record<string, string>> = {
  US: 'AL Alabama|AK Alaska|AZ Arizona|AR Arkansas|CA California|CO Colorado|CT Connecticut|DE Delaware|DC District of Columbia|FL Florida|GA Georgia|HI Hawaii|ID Idaho|IL Illinois|IN Indiana|IA Iowa|KS Kansas|KY Kentucky|LA Louisiana|ME Maine|MD Maryland|MA Massachusetts|MI Michigan|MN Minnesota|MS Mississippi|MO Missouri|MT Montana|NE Nebraska|NV Nevada|NH New Hampshire|NJ New Jersey|NM New Mexico|NY New York|NC North Carolina|ND North Dakota|OH Ohio|OK Oklahoma|OR Oregon|PA Pennsylvania|RI Rhode Island|SC South Carolina|SD South Dakota|TN Tennessee|TX Texas|UT Utah|VT Vermont|VA Virginia|WA Washington|WV West Virginia|WI Wisconsin|WY Wyoming',
  CA: 'AB Alberta|BC British Columbia|MB Manitoba|NB New Brunswick|NL Newfoundland and Labrador|NS Nova Scotia|NT Northwest Territories|NU Nunavut|ON Ontario|PE Prince Edward Island|QC Quebec|SK Saskatchewan|YT Yukon',
  AU: 'NSW New South Wales|VIC Victoria|QLD Queensland|WA Western Australia|SA South Australia|TAS Tasmania|ACT Australian Capital Territory|NT Northern Territory',
  BR: 'SP São Paulo|RJ Rio de Janeiro|MG Minas Gerais|RS Rio Grande do Sul|PR Paraná|SC Santa Catarina|BA Bahia|PE Pernambuco|CE Ceará|DF Distrito Federal|GO Goiás|ES Espírito Santo|AM Amazonas|PA Pará|MT Mato Grosso',
};

/** Regions known by name only, with their names in English and at home. */
const NAMED: Readonly<Record<string, string>> = {
  DE: 'Bavaria,Bayern,Baden-Württemberg,Berlin-Brandenburg,Brandenburg,Hesse,Hessen,Lower Saxony,Niedersachsen,Mecklenburg-Vorpommern,North Rhine-Westphalia,Nordrhein-Westfalen,NRW,Rhineland-Palatinate,Rheinland-Pfalz,Saarland,Saxony,Sachsen,Saxony-Anhalt,Sachsen-Anhalt,Schleswig-Holstein,Thuringia,Thüringen',
  AT: 'Tyrol,Tirol,Styria,Steiermark,Carinthia,Kärnten,Vorarlberg,Upper Austria,Oberösterreich,Lower Austria,Niederösterreich,Burgenland',
  FR: "Île-de-France,Ile-de-France,Provence-Alpes-Côte d’Azur,Provence-Alpes-Côte d'Azur,Auvergne-Rhône-Alpes,Occitanie,Nouvelle-Aquitaine,Bretagne,Brittany,Normandie,Normandy,Hauts-de-France,Grand Est,Pays de la Loire,Bourgogne-Franche-Comté,Centre-Val de Loire,Corse",
  ES: 'Andalusia,Andalucía,Catalonia,Cataluña,Catalunya,Community of Madrid,Comunidad de Madrid,Basque Country,País Vasco,Galicia,Castilla y León,Castilla-La Mancha,Comunidad Valenciana,Aragón,Asturias,Canarias,Islas Baleares,Extremadura,Navarra',
  IT: 'Lombardy,Lombardia,Lazio,Tuscany,Toscana,Piedmont,Piemonte,Veneto,Emilia-Romagna,Sicily,Sicilia,Campania,Apulia,Puglia,Liguria,Sardinia,Sardegna,Calabria,Umbria,Marche,Abruzzo',
  GB: 'Greater London,Greater Manchester,West Midlands,West Yorkshire,Kent,Essex,Surrey,Hampshire,Lancashire,Merseyside,Devon,Cornwall,Norfolk,Suffolk,Hertfordshire,Oxfordshire,Cambridgeshire',
  NL: 'North Holland,Noord-Holland,South Holland,Zuid-Holland,North Brabant,Noord-Brabant,Gelderland,Overijssel,Friesland,Drenthe,Flevoland,Zeeland',
  PL: 'Mazowieckie,Małopolskie,Śląskie,Dolnośląskie,Wielkopolskie,Pomorskie',
  IN: 'Maharashtra,Karnataka,Tamil Nadu,Telangana,Uttar Pradesh,West Bengal,Gujarat,Kerala,Rajasthan,Haryana,Punjab,Madhya Pradesh,Bihar,Andhra Pradesh,Odisha',
  CN: 'Guangdong,Zhejiang,Jiangsu,Sichuan,Hubei,Fujian,Shandong',
  MX: 'Jalisco,Nuevo León,Estado de México,Puebla,Yucatán,Quintana Roo',
};

const BY_CODE = new Map<string, AdministrativeRegion[]>();
const BY_NAME = new Map<string, AdministrativeRegion>();
for (const [country, rows] of Object.entries(CODED)) {
  for (const row of rows.split('|')) {
    const space = row.indexOf(' ');
    const [code, name] = [row.slice(0, space), row.slice(space + 1)];
    BY_CODE.set(code, [...(BY_CODE.get(code) ?? []), { name, country }]);
    if (!BY_NAME.has(placeKey(name))) BY_NAME.set(placeKey(name), { name, country });
  }
}
for (const [country, names] of Object.entries(NAMED)) {
  for (const name of names.split(',')) {
    if (!BY_NAME.has(placeKey(name))) BY_NAME.set(placeKey(name), { name, country });
  }
}

/** Regions with these letters, of all countries that have such. */
const regionsCoded = (code: string): readonly AdministrativeRegion[] => BY_CODE.get(code.trim()) ?? [];

const regionNamed = (name: string): AdministrativeRegion | null => BY_NAME.get(placeKey(name)) ?? null;
