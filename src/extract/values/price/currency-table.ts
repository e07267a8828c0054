/** What is known of a currency in use. */
export interface Currency {
  readonly code: string;
  /** Digits of its smallest unit (ISO 4217). */
  readonly minorDigits: number;
  /** Signs that part thousands where it is used, the most usual first. */
  readonly groups: readonly string[];
  /** Signs before the decimals, the most usual first. */
  readonly decimals: readonly string[];
  /** ISO 3166 codes of where it is paid with. */
  readonly countries: readonly string[];
}

/**
 * Code, minor digits, ways to write numbers, countries. The ways: p is 1,234.56, c is 1.234,56, s is 1 234,56,
 * a is 1'234.56.
 */
const ROWS = `
AED 2 p AE|AFN 2 pc AF|ALL 2 sc AL|AMD 2 sp AM|AOA 2 sc AO|ARS 2 c AR|AUD 2 p AU CX CC HM KI NR NF TV
AWG 2 p AW|AZN 2 cs AZ|BAM 2 cs BA|BBD 2 p BB|BDT 2 p BD|BGN 2 sc BG|BHD 3 p BH|BIF 0 sp BI|BMD 2 p BM
BND 2 pc BN|BOB 2 cp BO|BRL 2 c BR|BSD 2 p BS|BTN 2 p BT|BWP 2 ps BW|BYN 2 s BY|BZD 2 p BZ|CAD 2 ps CA
CDF 2 cs CD|CHF 2 asp CH LI|CLP 0 c CL|CNY 2 p CN|COP 2 cp CO|CRC 2 scp CR|CUP 2 p CU|CVE 2 sc CV
CZK 2 sc CZ|DJF 0 sp DJ|DKK 2 cs DK FO GL|DOP 2 p DO|DZD 2 csp DZ|EGP 2 p EG|ERN 2 p ER|ETB 2 p ET
EUR 2 csp AD AT AX BE BL CY DE EE ES FI FR GF GP GR HR IE IT LT LU LV MC ME MF MQ MT NL PM PT RE SI SK SM TF VA XK YT
FJD 2 p FJ|FKP 2 p FK|GBP 2 p GB GG IM JE|GEL 2 sp GE|GHS 2 p GH|GIP 2 p GI|GMD 2 p GM|GNF 0 sp GN
GTQ 2 p GT|GYD 2 p GY|HKD 2 p HK|HNL 2 p HN|HTG 2 sp HT|HUF 2 sc HU|IDR 2 cp ID|ILS 2 p IL PS|INR 2 p IN
IQD 3 p IQ|IRR 2 p IR|ISK 0 c IS|JMD 2 p JM|JOD 3 p JO|JPY 0 p JP|KES 2 p KE|KGS 2 s KG|KHR 2 pc KH
KMF 0 sp KM|KPW 2 p KP|KRW 0 p KR|KWD 3 p KW|KYD 2 p KY|KZT 2 s KZ|LAK 2 cp LA|LBP 2 p LB|LKR 2 p LK
LRD 2 p LR|LSL 2 ps LS|LYD 3 pc LY|MAD 2 scp MA EH|MDL 2 cs MD|MGA 2 sp MG|MKD 2 cs MK|MMK 2 p MM
MNT 2 p MN|MOP 2 p MO|MRU 2 ps MR|MUR 2 ps MU|MVR 2 p MV|MWK 2 p MW|MXN 2 p MX|MYR 2 p MY|MZN 2 cs MZ
NAD 2 p NA|NGN 2 p NG|NIO 2 p NI|NOK 2 sc NO SJ BV|NPR 2 p NP|NZD 2 p NZ CK NU PN TK|OMR 3 p OM
PAB 2 p PA|PEN 2 p PE|PGK 2 p PG|PHP 2 p PH|PKR 2 p PK|PLN 2 sc PL|PYG 0 c PY|QAR 2 p QA|RON 2 cs RO
RSD 2 cs RS|RUB 2 s RU|RWF 0 sp RW|SAR 2 p SA|SBD 2 p SB|SCR 2 p SC|SDG 2 p SD|SEK 2 s SE|SGD 2 p SG
SHP 2 p SH|SLE 2 p SL|SOS 2 p SO|SRD 2 cp SR|SSP 2 p SS|STN 2 cs ST|SVC 2 p|SYP 2 p SY|SZL 2 ps SZ
THB 2 p TH|TJS 2 sp TJ|TMT 2 sp TM|TND 3 sc TN|TOP 2 p TO|TRY 2 cp TR|TTD 2 p TT|TWD 2 p TW|TZS 2 p TZ
UAH 2 s UA|UGX 0 p UG|USD 2 p US AS BQ EC FM GU IO MH MP PR PW SV TC TL UM VG VI|UYU 2 c UY|UZS 2 sp UZ
VES 2 c VE|VND 0 cp VN|VUV 0 p VU|WST 2 p WS|XAF 0 sc CF CG CM GA GQ TD|XCD 2 p AG AI DM GD KN LC MS VC
XCG 2 cp CW SX|XOF 0 sc BF BJ CI GW ML NE SN TG|XPF 0 sc NC PF WF|YER 2 p YE|ZAR 2 sp ZA|ZMW 2 p ZM|ZWG 2 p ZW
HRK 2 c|LTL 2 s|LVL 2 s|EEK 2 s|BYR 0 s|MRO 2 p|STD 2 c|VEF 2 c|SLL 2 p|ZMK 2 p|ANG 2 c
BOV 2 c|CHE 2 a|CHW 2 a|CLF 4 c|COU 2 c|CUC 2 p|MXV 2 p|USN 2 p|UYI 0 c|UYW 4 c|XAU 0 p|XAG 0 p|XDR 0 p`;

const WAYS: Readonly<Record<string, readonly [group: string, decimal: string]>> = {
  p: [',', '.'],
  c: ['.', ','],
  s: [' ', ','],
  a: ["'", '.'],
};

function readRow(row: string): Currency {
  const [code = '', minor = '2', ways = 'p', ...countries] = row.trim().split(' ');
  const pairs = [...ways].flatMap((way) => {
    const pair = WAYS[way];
    return pair === undefined ? [] : [pair];
  });
  return {
    code,
    minorDigits: Number(minor),
    groups: pairs.map(([group]) => group),
    decimals: [...new Set(pairs.map(([, decimal]) => decimal))],
    countries,
  };
}

/** Every currency of ISO 4217 in use, and those given up lately that old pages still name. */
export const CURRENCIES: ReadonlyMap<string, Currency> = new Map(
  ROWS.trim()
    .split(/[|\n]/)
    .map(readRow)
    .map((currency) => [currency.code, currency]),
);

const OF_COUNTRY: ReadonlyMap<string, string> = new Map(
  [...CURRENCIES.values()].flatMap(({ code, countries }) => countries.map((country) => [country, code])),
);

/** The currency people pay with in a country, or null for a code that is no country. */
export function currencyOf(country: string): string | null {
  return OF_COUNTRY.get(country.toUpperCase()) ?? null;
}
