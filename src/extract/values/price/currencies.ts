import { PhraseTable } from '../text.ts';

/** What is known of a currency in use. */
interface Currency {
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

/** The possible meanings of a symbol or word for a currency. */
export interface CurrencySpelling {
  /** Codes of the currencies that may be meant, the likeliest first. */
  readonly codes: readonly string[];
  /** True when the first code is meant unless a hint names another of them. */
  readonly isSettled: boolean;
  /** Value of one unit in the currency: 0.01 for cents. */
  readonly unit: number;
  /** A spelling that is also a common letter or word counts only on this side of a number. */
  readonly side: 'before' | 'after' | 'both';
  /** Written exactly so (`R`, not `r`), and a currency only right beside a number. */
  readonly isExact: boolean;
}

const DOLLARS =
  'USD CAD AUD MXN NZD SGD HKD TWD ARS CLP COP UYU JMD TTD BBD BSD BZD BND FJD GYD LRD NAD XCD DOP';
const CENTS = 'USD CAD AUD NZD EUR ZAR SGD HKD';
const RUPEES = 'INR PKR LKR NPR MUR SCR';

/**
 * Spellings for one currency, or for one that is meant unless a hint says otherwise (the rest of the codes). `_` stands
 * for a space; a word with `>` behind it means a currency only behind a number.
 */
const SETTLED = `
USD: us$ us-$ us_$ usd$ u$s u.s.$ $us us-dollar us-dollars us_dollars u.s._dollars dollar_us dollars_us 美元 美金 米ドル 미국달러 доллар_сша долларов_сша دولار_أمريكي
EUR: € euro euros euroa eura eur€ €uro евро євро ευρώ ευρω يورو יורו 欧元 欧> 歐元 ユーロ 유로 evro evra यूरो eurot euron
GBP: gb£ uk£ £stg pound_sterling pounds_sterling 英镑 英鎊 ポンド
JPY: 円 圓 jp¥ jpy¥ yen> 日元 日圓 엔 иен
CNY: rmb cn¥ cny¥ 人民币 人民幣 yuan renminbi 块 юаней
CNY TWD HKD JPY: 元 圆
TWD: nt$ ntd 新台幣 新臺幣 台幣 台币
HKD: hk$ 港元 港幣 港币
MOP: mop$ 澳門元 澳门元
KRW: ₩ 원 won>
AUD: a$ au$ aud$ aus$ 澳元 australian_dollars
CAD: ca$ can$ cad$ cdn$ 加元 canadian_dollars dollars_canadiens
CAD NIO: c$
NZD: nz$ nzd$ new_zealand_dollars
SGD: s$ sg$ sgd$ 新元
MXN: mx$ mex$ mxn$ m.n.
BRL: r$ reais real> brl$
DOP: rd$
JMD: j$ ja$
TTD: tt$
BZD: bz$
BBD: bds$
BSD: b$
GYD: g$ gy$
XCD: ec$
FJD: fj$
NAD: n$
LRD: l$ ld$
BND: bn$
ARS: ar$
CLP: cl$ clp$
COP: co$ col$ cop$
UYU: $u u$
INR: ₹ inr₹ indian_rupees रु रू रुपये रुपए ரூ రూ ₹/- rs/-
CHF: sfr sfr. chf. schweizer_franken stutz franken
RUB BYN: руб руб. р.> ₽ рублей рубля рубль р>
UAH: ₴ грн грн. гривень гривні гривня
PLN: zł zl zł. zl. złotych złote złoty злотых
CZK: kč kc kč. korun koruny korun_českých
HUF: ft> ft.> forint forintot
RON MDL: lei leu>
BGN: лв лв. лева lv lv. leva
RSD: дин дин. din din. рсд динара dinara
MKD: ден ден. denari
HRK: kn kn. kuna
TRY: ₺ tl lira> türk_lirası
ILS: ₪ ש"ח ש״ח שח nis n.i.s. שקל שקלים שקל_חדש
AED MAD: درهم dirham dirhams
AED: د.إ د.إ. dhs dhs. dh.s درهم_إماراتي
MAD: د.م د.م. dhm درهم_مغربي
SAR: ر.س ر.س. ريال_سعودي \u20c1
QAR: ر.ق ر.ق. ريال_قطري
OMR: ر.ع ر.ع. ريال_عماني
YER: ر.ي ر.ي.
KWD: د.ك د.ك. دينار_كويتي
BHD: د.ب د.ب. دينار_بحريني
JOD: د.ا د.أ د.ا. د.أ. دينار_أردني
IQD: د.ع د.ع. دينار_عراقي
LYD: د.ل د.ل. دينار_ليبي
TND: د.ت د.ت. دينار_تونسي
DZD: د.ج د.ج. دينار_جزائري
EGP: ج.م ج.م. e£ l.e. l.e egp£ جنيه_مصري جنيه
LBP: ل.ل ل.ل. l.l. ليرة_لبنانية
SYP: ل.س ل.س. ليرة_سورية
IRR: ریال
PKR: پاکستانی_روپے pkrs
THB: ฿ บาท baht
VND: ₫ đ đồng vnđ dong
IDR: rp rp. rupiah
MYR: rm ringgit
PHP: ₱ php₱ piso>
KHR: ៛ riel
LAK: ₭ kip
MNT: ₮ төг төгрөг
KZT: ₸ тг тг. тенге теңге
KGS: сом
UZS: сўм so'm soʻm
AZN: ₼ манат man.>> azn₼
GEL: ₾ ლარი
AMD: ֏ դրամ
BDT: ৳ tk tk. taka টাকা
LKR: රු රු. rs.lk
NPR: रू. nrs nrs.
NGN: ₦ naira
GHS: ₵ gh₵ gh¢ ghc cedi cedis
KES: ksh ksh. kshs kshs.
TZS: tsh tsh. tzs/=
UGX: ush ush. ugx/=
ZAR: rand
ETB BYN: birr
CRC: ₡ colones
PYG: ₲ gs gs. guaraníes guaranies
PEN: s/ s/. soles sol>
PAB: b/ b/.
GTQ: quetzales
HNL: lempiras
VES: bs.s bs.d bolívares bolivares
BOB: bolivianos
SEK: skr svenska_kronor
NOK: nkr norske_kroner
DKK: dkr danske_kroner
ISK: ikr íslenskar_krónur
XOF XAF: fcfa f_cfa cfa francs_cfa
XPF: fcfp f_cfp cfp
ALL: lekë lek>
ILS: shekel shekels`;

/** Spellings that are ambiguous without a hint. */
const OPEN = `
${DOLLARS}: $ dollar dollars dólares dolares dollari доллар долларов دولار ドル 달러
SEK NOK DKK ISK: kr kr. kronor kroner kr:- krónur
JPY CNY: ¥
GBP EGP LBP SYP FKP GIP SHP SDG SSP: £ pound> pounds>
${RUPEES}: rs rs. rupee rupees
MXN ARS COP CLP UYU DOP CUP PHP: peso pesos
SAR QAR OMR YER: ريال riyal riyals
KWD BHD JOD IQD LYD TND DZD: دينار dinar dinars
BOB VES: bs bs.
CHF XOF XAF: francs franc
TRY SYP LBP: ليرة`;

/** `spelling side codes`: letters that mean a currency only right beside a number, and written exactly so. */
const BESIDE = `
R before ZAR BRL|Q both GTQ|L both HNL|K before ZMW PGK MMK|D before GMD|Le before SLE|Ar both MGA|F after XOF XAF XPF
Fr both CHF XOF|Fr. both CHF XOF|KM both BAM|T after KZT|P before BWP|VT both VUV|Br both ETB BYN|LE both EGP|SR both SAR
QR both QAR|RO both OMR|R.O. both OMR|KD both KWD|BD both BHD|JD both JOD|LD both LYD|DT both TND|DA both DZD|LL both LBP
DH both MAD AED|Dh both MAD AED|NT before TWD|B before THB|G both HTG|E before SZL`;

/** Parts of a unit: worth, codes, spellings. A first code that is settled stands alone. */
const MINOR = `
0.01|GBP|p pence penny
0.01|${CENTS}|¢ cent cents c centavos
0.01|EUR|ct cts ct. eurocent eurocents centimes céntimos centimos centesimi snt cêntimos
0.01|RUB|коп коп. копеек копейки
0.01|UAH|коп.грн копійок
0.01|PLN|gr grosz grosze groszy
0.01|CZK|haléřů hal.
0.01|SEK NOK DKK|öre øre
0.01|INR|paise paisa
0.01|CHF|rappen
0.01|BGN|ст ст. стотинки
0.01|RON|bani ban
0.01|CNY|分
0.1|CNY|角
10|IRR|تومان toman تومن`;

/** Codes that are words people write in small letters for other things. */
const ALSO_WORDS = new Set(
  'all ang bam ban bob cad cop cup erd gel gin lak mad mop mur nad pab pen php ron rub scr sek sos std top try won xua'.split(
    ' ',
  ),
);

type Entry = readonly [string, CurrencySpelling];

function spelled(
  text: string,
  codes: readonly string[],
  more: Partial<CurrencySpelling> & { readonly isSettled: boolean },
): Entry {
  return [text.toLowerCase(), { codes, unit: 1, side: 'both', isExact: false, ...more }];
}

function* listed(rows: string, isSettled: boolean): Generator<Entry> {
  for (const row of rows.trim().split('\n')) {
    const colon = row.indexOf(':');
    const codes = row.slice(0, colon).split(' ');
    for (const text of row.slice(colon + 2).split(' ')) {
      const isAfter = text.endsWith('>');
      const plain = (isAfter ? text.slice(0, -1) : text).replaceAll('_', ' ');
      yield spelled(plain, codes, { isSettled, side: isAfter ? 'after' : 'both' });
    }
  }
}

function* entries(): Generator<Entry> {
  yield* listed(SETTLED, true);
  yield* listed(OPEN, false);
  for (const row of MINOR.trim().split('\n')) {
    const [unit = '', codes = '', texts = ''] = row.split('|');
    const list = codes.split(' ');
    for (const text of texts.split(' ')) {
      yield spelled(text, list, { isSettled: list.length === 1, unit: Number(unit), side: 'after' });
    }
  }
  for (const code of CURRENCIES.keys()) yield spelled(code, [code], { isSettled: true });
}

/** Looked up before the others, letter for letter. */
export const EXACT_SPELLINGS: ReadonlyMap<string, CurrencySpelling> = new Map(
  BESIDE.trim()
    .split(/[|\n]/)
    .map((row) => {
      const [text = '', side, ...codes] = row.split(' ');
      const isSettled = codes.length === 1 || text === 'DH' || text === 'Dh';
      const beside = side === 'before' || side === 'after' ? side : 'both';
      return [text, { codes, isSettled, unit: 1, side: beside, isExact: true }];
    }),
);

export const CURRENCY_SPELLINGS = new PhraseTable<CurrencySpelling>(entries());

/** True when a code in these letters is more likely an ordinary word. */
export function isLikelyWord(written: string): boolean {
  return written !== written.toUpperCase() && ALSO_WORDS.has(written.toLowerCase());
}
