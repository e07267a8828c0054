import { fold, lowerInPlace, withoutAccents } from './text.ts';

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

export interface AdministrativeRegion {
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
export const regionsCoded = (code: string): readonly AdministrativeRegion[] => BY_CODE.get(code.trim()) ?? [];

export const regionNamed = (name: string): AdministrativeRegion | null => BY_NAME.get(placeKey(name)) ?? null;
