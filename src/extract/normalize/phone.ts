import { fold } from './fold.ts';
import { regionOf } from './number-format.ts';
import { type PhonePlan, planOf, plansFor } from './phone-table.ts';

export interface Phone {
  /** E.164 where the country is known, else the digits as dialled. */
  readonly value: string;
  /** Whether `value` is E.164 and can be dialled from anywhere. */
  readonly isComplete: boolean;
  /** ISO 3166; null when unknown, or when several countries share the calling code and no hint chooses. */
  readonly country: string | null;
  readonly extension: string | null;
}

export interface PhoneHints {
  readonly country?: string | undefined;
  readonly locale?: string | undefined;
}

const MAX_CHARS = 200;
const LABEL =
  /^(?:tel(?:ephone|efon|éfono|efono|éfon|\.)?|phone|ph|mobile|mobil|mob|cell|fax|call|fon|handy|t|m|f|тел|телефон|電話|电话|전화|هاتف|טלפון)[.:]* ?[:]? ?(?=[+(\d])/iu;
const EXTENSION =
  /(?:;ext=|,? ?(?:ext(?:ension)?\.?|x|durchwahl|dw|poste|int\.?|доб\.?|内線|내선|#) ?[:.]? ?)(\d{1,7})$/iu;
/** Only digits and what people put between them. */
const NUMBER = /^\+?[\d\s().\-–‐‑/·\u2010-\u2015]+$/u;
/** Two numbers side by side: the first counts. */
const NEXT =
  /(?<=\d)\s*(?:[;|,]|\bor\b|\boder\b|\bou\b|\/\s*(?=\+)|(?<=\d{4}) \/ (?=\d{4}))\s*(?=\+?\(?\d{2,})/iu;
const MIN_DIGITS = 5;
const MAX_DIGITS = 15;
/** Italy and its neighbours dial the zero from abroad as well. */
const KEEPS_ZERO = new Set(['IT', 'VA', 'SM', 'CI', 'GA']);

/** Reads a telephone number as written for people or in a `tel:` link; null for what is none. */
export function parsePhone(text: string, hints: PhoneHints = {}): Phone | null {
  const folded = decodeTarget(fold(text, MAX_CHARS)).replace(LABEL, '');
  const first = folded.split(NEXT, 1)[0] ?? '';
  const extension = EXTENSION.exec(first)?.[1] ?? null;
  const body = (extension === null ? first : first.replace(EXTENSION, '')).trim();
  if (!NUMBER.test(body) || looksLikeDate(body)) return null;
  const isInternational = /^\(?\s?\+/.test(body);
  // +49 (0)89: the zero is for those who dial from inside.
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

function decodeTarget(text: string): string {
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
