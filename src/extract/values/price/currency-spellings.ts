import { PhraseTable } from '../fold.ts';
import { CURRENCIES } from './currency-table.ts';

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
