import { fold, lowerInPlace, withoutAccents } from '../fold.ts';

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

export const placeKey = (name: string): string =>
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
export function countryNamed(text: string): string | null {
  return countryNames().get(placeKey(text)) ?? null;
}

/** The code itself, when the text is one in capitals. */
export function countryCoded(text: string): string | null {
  const code = text.trim();
  if (code === 'UK') return 'GB';
  return CODE_SET.has(code) ? code : null;
}
