import { domainToASCII } from 'node:url';
import { regionOf } from './number.ts';
import { fold } from './text.ts';

interface Email {
  /** `local@host`; the host in lower case and ASCII. */
  readonly value: string;
  /** Whether it was hidden from robots: `name [at] host dot com`. */
  readonly wasObfuscated: boolean;
}

const MOST_EMAIL_CHARS = 400;
const ADDRESS = /[\p{L}\p{N}!#$%&'*+/=?^_`{|}~.-]{1,64}@[\p{L}\p{N}.-]{3,253}/u;
const LOCAL = /^[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+(?:\.[\p{L}\p{N}!#$%&'*+/=?^_`{|}~-]+)*$/u;
const HOST = /^(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+(?:[a-z]{2,63}|xn--[a-z0-9-]{2,59})$/;
const AT =
  / ?(?:\[|\(|\{|<)\s?(?:at|ät|æt|a|@|arroba|chiocciola|arobase|malpa|małpa|zavinač|собака|snabel-a|klammeraffe)\s?(?:\]|\)|\}|>) ?/giu;
const DOT =
  / ?(?:\[|\(|\{|<)\s?(?:dot|punkt|point|punto|ponto|punt|kropka|tečka|точка|\.)\s?(?:\]|\)|\}|>) ?/giu;
const SPOKEN =
  /(?<=[\p{L}\p{N}]) (?:at|AT|arroba|chiocciola) (?=[\p{L}\p{N}.-]+ (?:dot|DOT|punkt|point|punto|ponto) )/u;
const SPOKEN_DOT = /(?<=[\p{L}\p{N}]) (?:dot|DOT|punkt|point|punto|ponto) (?=[\p{L}\p{N}])/gu;
/** Cloudflare's way to hide addresses: the first byte is the key for the rest. */
const HIDDEN = /(?:email-protection#|^)((?:[0-9a-f]{2}){6,150})$/i;

/** The first e-mail address of a text, also when it is hidden from simple robots; null when there is none. */
export function parseEmail(text: string): Email | null {
  const folded = mailTarget(fold(text, MOST_EMAIL_CHARS));
  const hidden = HIDDEN.exec(folded)?.[1];
  if (hidden !== undefined) return addressIn(reveal(hidden), true);
  const plain = addressIn(folded, false);
  if (plain !== null) return plain;
  const spoken = SPOKEN.exec(folded);
  const written =
    spoken === null
      ? folded.replace(AT, '@').replace(DOT, '.')
      : `${folded.slice(0, spoken.index)}@${folded.slice(spoken.index + spoken[0].length)}`;
  return addressIn(written.replace(SPOKEN_DOT, '.').replace(DOT, '.').replace(/ ?@ ?/g, '@'), true);
}

function addressIn(text: string, wasObfuscated: boolean): Email | null {
  const match = ADDRESS.exec(text)?.[0];
  if (match === undefined) return null;
  const at = match.lastIndexOf('@');
  const local = match.slice(0, at).replace(/^['.]+/, '');
  const host = domainToASCII(match.slice(at + 1).replace(/[.-]+$/, '')).toLowerCase();
  if (!LOCAL.test(local) || !HOST.test(host)) return null;
  return { value: `${local}@${host}`, wasObfuscated };
}

/** `mailto:` with its escapes and without its subject. */
function mailTarget(text: string): string {
  if (!/^mailto:/i.test(text)) return text;
  const target = text.slice('mailto:'.length).split('?', 1)[0] ?? '';
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

function reveal(hex: string): string {
  const bytes = Buffer.from(hex, 'hex');
  const key = bytes[0] ?? 0;
  return Buffer.from(bytes.subarray(1).map((byte) => byte ^ key)).toString('utf8');
}

interface Phone {
  /** E.164 where the country is known, else the digits as dialled. */
  readonly value: string;
  /** True when `value` is E.164. */
  readonly isComplete: boolean;
  /** ISO 3166; null when unknown, or when several countries share the calling code and no hint chooses. */
  readonly country: string | null;
  readonly extension: string | null;
}

interface PhoneHints {
  readonly country?: string | undefined;
  readonly locale?: string | undefined;
}

const MOST_PHONE_CHARS = 200;
const LABEL =
  /^(?:tel(?:ephone|efon|éfono|efono|éfon|\.)?|phone|ph|mobile|mobil|mob|cell|fax|call|fon|handy|t|m|f|тел|телефон|電話|电话|전화|هاتف|טלפון)[.:]* ?[:]? ?(?=[+(\d])/iu;
const EXTENSION =
  /(?:;ext=|,? ?(?:ext(?:ension)?\.?|x|durchwahl|dw|poste|int\.?|доб\.?|内線|내선|#) ?[:.]? ?)(\d{1,7})$/iu;
/** Digits and their usual separators. */
const NUMBER = /^\+?[\d\s().\-–‐‑/·\u2010-\u2015]+$/u;
/** Two numbers side by side: the first counts. */
const NEXT =
  /(?<=\d)\s*(?:[;|,]|\bor\b|\boder\b|\bou\b|\/\s*(?=\+)|(?<=\d{4}) \/ (?=\d{4}))\s*(?=\+?\(?\d{2,})/iu;
const MIN_DIGITS = 5;
const MAX_DIGITS = 15;
/** Italy and its neighbours dial the zero from abroad as well. */
const KEEPS_ZERO = new Set(['IT', 'VA', 'SM', 'CI', 'GA']);

/** Reads a telephone number as written for people or in a `tel:` link; null for any other text. */
export function parsePhone(text: string, hints: PhoneHints = {}): Phone | null {
  const folded = phoneTarget(fold(text, MOST_PHONE_CHARS)).replace(LABEL, '');
  const first = folded.split(NEXT, 1)[0] ?? '';
  const extension = EXTENSION.exec(first)?.[1] ?? null;
  const body = (extension === null ? first : first.replace(EXTENSION, '')).trim();
  if (!NUMBER.test(body) || looksLikeDate(body)) return null;
  const isInternational = /^\(?\s?\+/.test(body);
  // +49 (0)89: the zero is only dialled inside the country.
  const shown = isInternational ? body.replace(/\(\s?0\s?\)/, '') : body;
  const digits = shown.replace(/\D/g, '');
  if (digits.length < MIN_DIGITS || digits.length > MAX_DIGITS + 3) return null;
  const home = planOf(hints.country ?? regionOf(hints.locale) ?? '');
  if (isInternational) return international(digits, home, extension);
  const abroad = home?.callingCode === '1' ? '011' : '00';
  if (digits.startsWith(abroad)) {
    const far = international(digits.slice(abroad.length), home, extension);
    if (far !== null) return far;
  }
  return national(digits, home, extension);
}

function international(digits: string, home: PhonePlan | null, extension: string | null): Phone | null {
  const plans = plansFor(digits);
  const [first] = plans;
  if (first === undefined) return null;
  const plan = plans.find(({ country }) => country === home?.country) ?? first;
  let rest = digits.slice(plan.callingCode.length);
  const hasTrunk = plan.trunk === '0' && rest.startsWith('0') && !KEEPS_ZERO.has(plan.country);
  if (hasTrunk) rest = rest.slice(1);
  if (rest.length < plan.minDigits || rest.length > plan.maxDigits) return null;
  const country = plans.length === 1 || plan === home ? plan.country : null;
  return { value: `+${plan.callingCode}${rest}`, isComplete: true, country, extension };
}

function national(digits: string, home: PhonePlan | null, extension: string | null): Phone | null {
  if (digits.length > MAX_DIGITS) return null;
  if (home === null) return { value: digits, isComplete: false, country: null, extension };
  const hasTrunk = home.trunk !== '' && digits.startsWith(home.trunk);
  const bare = hasTrunk ? digits.slice(home.trunk.length) : digits;
  // Where a trunk prefix is dialled, a number without it lacks its area; North Americans leave theirs away.
  const isWhole =
    hasTrunk ||
    home.trunk === '' ||
    home.trunk === '1' ||
    home.trunk === '8' ||
    bare.length === home.maxDigits;
  const fits = bare.length >= home.minDigits && bare.length <= home.maxDigits;
  if (!isWhole || !fits) return { value: digits, isComplete: false, country: home.country, extension };
  return { value: `+${home.callingCode}${bare}`, isComplete: true, country: home.country, extension };
}

function phoneTarget(text: string): string {
  if (!/^(?:tel|callto|sms|whatsapp):/i.test(text)) return text;
  const target = text.slice(text.indexOf(':') + 1).replace(/^\/\//, '');
  try {
    return decodeURIComponent(target).replace(/;(?!ext=).*$/, '');
  } catch {
    return target;
  }
}

const looksLikeDate = (text: string): boolean =>
  /^(?:\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{4})$/.test(text);

/** How telephone numbers are dialled in a country. */
interface PhonePlan {
  readonly country: string;
  readonly callingCode: string;
  /** Dialled before a number inside the country, not from abroad; empty where there is none. */
  readonly trunk: string;
  /** Digits of a number without calling code and trunk. */
  readonly minDigits: number;
  readonly maxDigits: number;
}

/** Country, calling code, trunk prefix (`-` for none), fewest and most digits. */
const ROWS = `
US 1 1 10 10|CA 1 1 10 10|PR 1 1 10 10|JM 1 1 10 10|DO 1 1 10 10|TT 1 1 10 10|BS 1 1 10 10|BB 1 1 10 10|AG 1 1 10 10
RU 7 8 10 10|KZ 7 8 10 10|EG 20 0 8 10|ZA 27 0 9 9|GR 30 - 10 10|NL 31 0 9 9|BE 32 0 8 9|FR 33 0 9 9|ES 34 - 9 9
HU 36 06 8 9|IT 39 - 6 11|VA 39 - 6 11|RO 40 0 9 9|CH 41 0 9 9|AT 43 0 4 13|GB 44 0 9 10|GG 44 0 9 10|JE 44 0 9 10|IM 44 0 9 10
DK 45 - 8 8|SE 46 0 7 10|NO 47 - 8 8|PL 48 - 9 9|DE 49 0 5 13|PE 51 0 8 9|MX 52 - 10 10|CU 53 0 6 8|AR 54 0 10 11|BR 55 0 10 11
CL 56 - 9 9|CO 57 - 8 10|VE 58 0 10 10|MY 60 0 8 10|AU 61 0 9 9|ID 62 0 8 12|PH 63 0 8 10|NZ 64 0 8 10|SG 65 - 8 8|TH 66 0 8 9
JP 81 0 9 10|KR 82 0 8 10|VN 84 0 9 10|CN 86 0 10 11|TR 90 0 10 10|IN 91 0 10 10|PK 92 0 9 10|AF 93 0 9 9|LK 94 0 9 9|MM 95 0 7 10|IR 98 0 10 10
SS 211 0 9 9|MA 212 0 9 9|DZ 213 0 8 9|TN 216 - 8 8|LY 218 0 8 9|GM 220 - 7 7|SN 221 - 9 9|MR 222 - 8 8|ML 223 - 8 8|GN 224 - 8 9
CI 225 - 10 10|BF 226 - 8 8|NE 227 - 8 8|TG 228 - 8 8|BJ 229 - 8 10|MU 230 - 7 8|LR 231 0 7 9|SL 232 0 8 8|GH 233 0 9 9|NG 234 0 8 10
TD 235 - 8 8|CF 236 - 8 8|CM 237 - 9 9|CV 238 - 7 7|ST 239 - 7 7|GQ 240 - 9 9|GA 241 0 7 8|CG 242 - 9 9|CD 243 0 9 9|AO 244 - 9 9
SC 248 - 7 7|SD 249 0 9 9|RW 250 0 9 9|ET 251 0 9 9|SO 252 0 7 9|DJ 253 - 8 8|KE 254 0 9 10|TZ 255 0 9 9|UG 256 0 9 9|BI 257 - 8 8
MZ 258 - 8 9|ZM 260 0 9 9|MG 261 0 9 9|RE 262 0 9 9|ZW 263 0 8 10|NA 264 0 8 9|MW 265 0 7 9|LS 266 - 8 8|BW 267 - 7 8|SZ 268 - 8 8|KM 269 - 7 7
GI 350 - 8 8|PT 351 - 9 9|LU 352 - 4 11|IE 353 0 7 10|IS 354 - 7 7|AL 355 0 8 9|MT 356 - 8 8|CY 357 - 8 8|FI 358 0 5 12|BG 359 0 7 9
LT 370 0 8 8|LV 371 - 8 8|EE 372 - 7 8|MD 373 0 8 8|AM 374 0 8 8|BY 375 80 9 9|AD 376 - 6 9|MC 377 - 8 9|SM 378 - 6 10|UA 380 0 9 9
RS 381 0 8 10|ME 382 0 8 8|XK 383 0 8 9|HR 385 0 8 9|SI 386 0 8 8|BA 387 0 8 9|MK 389 0 8 8|CZ 420 - 9 9|SK 421 0 9 9|LI 423 - 7 9
BZ 501 - 7 7|GT 502 - 8 8|SV 503 - 8 8|HN 504 - 8 8|NI 505 - 8 8|CR 506 - 8 8|PA 507 - 7 8|HT 509 - 8 8|BO 591 0 8 8|GY 592 - 7 7
EC 593 0 8 9|PY 595 0 7 9|SR 597 - 6 7|UY 598 0 8 8|TL 670 - 7 8|BN 673 - 7 7|PG 675 - 7 8|FJ 679 - 7 7|HK 852 - 8 8|MO 853 - 8 8
KP 850 0 8 10|KH 855 0 8 9|LA 856 0 8 10|BD 880 0 8 10|TW 886 0 8 9|MV 960 - 7 7|LB 961 0 7 8|JO 962 0 8 9|SY 963 0 8 9|IQ 964 0 8 10
KW 965 - 7 8|SA 966 0 8 9|YE 967 0 7 9|OM 968 - 8 8|PS 970 0 8 9|AE 971 0 8 9|IL 972 0 8 9|BH 973 - 8 8|QA 974 - 7 8|BT 975 - 7 8
MN 976 0 7 8|NP 977 0 8 10|TJ 992 - 9 9|TM 993 8 8 8|AZ 994 0 9 9|GE 995 0 9 9|KG 996 0 9 9|UZ 998 - 9 9`;

const PHONE_PLANS: readonly PhonePlan[] = ROWS.trim()
  .split(/[|\n]/)
  .map((row) => {
    const [country = '', callingCode = '', trunk = '-', min, max] = row.split(' ');
    return {
      country,
      callingCode,
      trunk: trunk === '-' ? '' : trunk,
      minDigits: Number(min),
      maxDigits: Number(max),
    };
  });

const BY_COUNTRY: ReadonlyMap<string, PhonePlan> = new Map(PHONE_PLANS.map((plan) => [plan.country, plan]));
const BY_CODE: ReadonlyMap<string, readonly PhonePlan[]> = Map.groupBy(
  PHONE_PLANS,
  ({ callingCode }) => callingCode,
);

function planOf(country: string): PhonePlan | null {
  return BY_COUNTRY.get(country.toUpperCase()) ?? null;
}

/** The plans of the calling code that begins an international number; no code begins another. */
function plansFor(digits: string): readonly PhonePlan[] {
  for (const length of [1, 2, 3]) {
    const plans = BY_CODE.get(digits.slice(0, length));
    if (plans !== undefined) return plans;
  }
  return [];
}
