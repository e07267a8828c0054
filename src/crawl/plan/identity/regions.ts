/** Time zones, places and languages of browsers in a country. */
export interface Region {
  /** Each with a town of it, so that place and time agree. Towns with more people stand first. */
  readonly places: readonly RegionPlace[];
  /** As browsers there are set up, the preferred one first. */
  readonly languages: readonly string[];
}

export interface RegionPlace {
  readonly timeZone: string;
  readonly latitude: number;
  readonly longitude: number;
}

const at = (timeZone: string, latitude: number, longitude: number): RegionPlace => ({
  timeZone,
  latitude,
  longitude,
});
const region = (languages: string, ...places: RegionPlace[]): Region => ({
  places,
  languages: languages.split(' '),
});

/** The regions by ISO 3166 code in lower case. */
export const REGIONS: Readonly<Record<string, Region>> = {
  ae: region('en-AE en ar-AE ar', at('Asia/Dubai', 25.2, 55.27)),
  ar: region('es-AR es en', at('America/Argentina/Buenos_Aires', -34.6, -58.38)),
  at: region('de-AT de en', at('Europe/Vienna', 48.21, 16.37)),
  au: region(
    'en-AU en',
    at('Australia/Sydney', -33.87, 151.21),
    at('Australia/Melbourne', -37.81, 144.96),
    at('Australia/Brisbane', -27.47, 153.03),
    at('Australia/Perth', -31.95, 115.86),
  ),
  be: region('nl-BE nl fr-BE fr en', at('Europe/Brussels', 50.85, 4.35)),
  bg: region('bg-BG bg en', at('Europe/Sofia', 42.7, 23.32)),
  br: region(
    'pt-BR pt en-US en',
    at('America/Sao_Paulo', -23.55, -46.63),
    at('America/Fortaleza', -3.73, -38.52),
    at('America/Manaus', -3.12, -60.02),
  ),
  ca: region(
    'en-CA en fr-CA',
    at('America/Toronto', 43.65, -79.38),
    at('America/Vancouver', 49.28, -123.12),
    at('America/Edmonton', 51.05, -114.07),
    at('America/Winnipeg', 49.9, -97.14),
  ),
  ch: region('de-CH de en fr', at('Europe/Zurich', 47.37, 8.54)),
  cl: region('es-CL es en', at('America/Santiago', -33.45, -70.67)),
  cn: region('zh-CN zh', at('Asia/Shanghai', 31.23, 121.47)),
  co: region('es-CO es en', at('America/Bogota', 4.71, -74.07)),
  cz: region('cs-CZ cs en', at('Europe/Prague', 50.08, 14.44)),
  de: region('de-DE de en-US en', at('Europe/Berlin', 52.52, 13.4)),
  dk: region('da-DK da en-US en', at('Europe/Copenhagen', 55.68, 12.57)),
  ee: region('et-EE et en', at('Europe/Tallinn', 59.44, 24.75)),
  eg: region('ar-EG ar en', at('Africa/Cairo', 30.04, 31.24)),
  es: region('es-ES es en', at('Europe/Madrid', 40.42, -3.7), at('Atlantic/Canary', 28.12, -15.43)),
  fi: region('fi-FI fi en', at('Europe/Helsinki', 60.17, 24.94)),
  fr: region('fr-FR fr en-US en', at('Europe/Paris', 48.86, 2.35)),
  gb: region('en-GB en', at('Europe/London', 51.51, -0.13)),
  gr: region('el-GR el en', at('Europe/Athens', 37.98, 23.73)),
  hk: region('zh-HK zh en', at('Asia/Hong_Kong', 22.32, 114.17)),
  hr: region('hr-HR hr en', at('Europe/Zagreb', 45.81, 15.98)),
  hu: region('hu-HU hu en', at('Europe/Budapest', 47.5, 19.04)),
  id: region('id-ID id en', at('Asia/Jakarta', -6.21, 106.85), at('Asia/Makassar', -5.15, 119.43)),
  ie: region('en-IE en', at('Europe/Dublin', 53.35, -6.26)),
  il: region('he-IL he en', at('Asia/Jerusalem', 32.09, 34.78)),
  in: region('en-IN en hi', at('Asia/Kolkata', 19.08, 72.88)),
  it: region('it-IT it en', at('Europe/Rome', 41.9, 12.5)),
  jp: region('ja ja-JP en', at('Asia/Tokyo', 35.68, 139.69)),
  ke: region('en-KE en sw', at('Africa/Nairobi', -1.29, 36.82)),
  kr: region('ko-KR ko en', at('Asia/Seoul', 37.57, 126.98)),
  lt: region('lt-LT lt en', at('Europe/Vilnius', 54.69, 25.28)),
  lu: region('fr-LU fr de en', at('Europe/Luxembourg', 49.61, 6.13)),
  lv: region('lv-LV lv en', at('Europe/Riga', 56.95, 24.11)),
  ma: region('fr-MA fr ar', at('Africa/Casablanca', 33.57, -7.59)),
  mx: region(
    'es-MX es en',
    at('America/Mexico_City', 19.43, -99.13),
    at('America/Monterrey', 25.69, -100.32),
    at('America/Tijuana', 32.51, -117.04),
  ),
  my: region('en-MY en ms', at('Asia/Kuala_Lumpur', 3.14, 101.69)),
  ng: region('en-NG en', at('Africa/Lagos', 6.52, 3.38)),
  nl: region('nl-NL nl en-US en', at('Europe/Amsterdam', 52.37, 4.9)),
  no: region('nb-NO nb no en', at('Europe/Oslo', 59.91, 10.75)),
  nz: region('en-NZ en', at('Pacific/Auckland', -36.85, 174.76)),
  pe: region('es-PE es en', at('America/Lima', -12.05, -77.04)),
  ph: region('en-PH en fil', at('Asia/Manila', 14.6, 120.98)),
  pk: region('en-PK en ur', at('Asia/Karachi', 24.86, 67.01)),
  pl: region('pl-PL pl en-US en', at('Europe/Warsaw', 52.23, 21.01)),
  pt: region('pt-PT pt en', at('Europe/Lisbon', 38.72, -9.14)),
  ro: region('ro-RO ro en', at('Europe/Bucharest', 44.43, 26.1)),
  rs: region('sr-RS sr en', at('Europe/Belgrade', 44.79, 20.45)),
  ru: region(
    'ru-RU ru en-US en',
    at('Europe/Moscow', 55.76, 37.62),
    at('Asia/Yekaterinburg', 56.84, 60.61),
    at('Asia/Novosibirsk', 55.03, 82.92),
  ),
  sa: region('ar-SA ar en', at('Asia/Riyadh', 24.71, 46.68)),
  se: region('sv-SE sv en-US en', at('Europe/Stockholm', 59.33, 18.07)),
  sg: region('en-SG en zh', at('Asia/Singapore', 1.35, 103.82)),
  si: region('sl-SI sl en', at('Europe/Ljubljana', 46.06, 14.51)),
  sk: region('sk-SK sk en', at('Europe/Bratislava', 48.15, 17.11)),
  th: region('th-TH th en', at('Asia/Bangkok', 13.76, 100.5)),
  tr: region('tr-TR tr en', at('Europe/Istanbul', 41.01, 28.98)),
  tw: region('zh-TW zh en', at('Asia/Taipei', 25.03, 121.57)),
  ua: region('uk-UA uk ru en', at('Europe/Kyiv', 50.45, 30.52)),
  us: region(
    'en-US en',
    at('America/New_York', 40.71, -74.01),
    at('America/Chicago', 41.88, -87.63),
    at('America/Los_Angeles', 34.05, -118.24),
    at('America/Denver', 39.74, -104.99),
    at('America/Phoenix', 33.45, -112.07),
  ),
  vn: region('vi-VN vi en', at('Asia/Ho_Chi_Minh', 10.82, 106.63)),
  za: region('en-ZA en', at('Africa/Johannesburg', -26.2, 28.05)),
};
