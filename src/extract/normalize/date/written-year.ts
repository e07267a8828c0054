import { BUDDHIST_LEAD } from './calendar.ts';

/** First years of the Japanese eras. */
const ERAS: Readonly<Record<string, number>> = {
  明治: 1868,
  大正: 1912,
  昭和: 1926,
  平成: 1989,
  令和: 2019,
  m: 1868,
  t: 1912,
  s: 1926,
  h: 1989,
  r: 2019,
};
const ERA = /(明治|大正|昭和|平成|令和) ?(元|\d{1,2}) ?年/g;
const ERA_LETTER = /(?<![\p{L}\d])([mtshr]) ?(\d{1,2})([./-])(\d{1,2})\3(\d{1,2})(?!\d)/gu;
/** The years of the Republic of China begin in 1912. */
const REPUBLIC = /(?:中華民國|中华民国|民國|民国) ?(元|\d{1,3}) ?年/g;
const HAN_NUMBER = /[〇零一二三四五六七八九十廿卅]{1,6}(?=[年月日号號])/g;
const HAN_DIGITS = '〇一二三四五六七八九';
const BUDDHIST = /(?:พ\.?ศ\.?|b\.e\.|\bbe) ?(\d{4})/g;
const THAI_YEAR = /(?<!\d)2[456]\d{2}(?!\d)/g;

function hanNumber(text: string): string {
  const plain = text.replaceAll('零', '〇').replaceAll('廿', '二十').replaceAll('卅', '三十');
  const ten = plain.indexOf('十');
  const digit = (char: string | undefined): number => HAN_DIGITS.indexOf(char ?? '');
  if (ten === -1) return [...plain].map((char) => digit(char)).join('');
  const tens = ten === 0 ? 1 : digit(plain[ten - 1]);
  const ones = ten === plain.length - 1 ? 0 : digit(plain[ten + 1]);
  return String(tens * 10 + ones);
}

const yearOf = (first: number, count: string): number => first + (count === '元' ? 1 : Number(count)) - 1;

/**
 * Brings years counted from emperors, republics and the Buddha, and numbers in Chinese characters, into the common
 * form. Years of the Buddha count as such where marked, or in Thai text where they would else lie in the far future.
 */
export function withCommonYears(lower: string, isThai: boolean): string {
  const common = lower
    .replace(HAN_NUMBER, hanNumber)
    .replace(ERA, (_, era: string, count: string) => `${yearOf(ERAS[era] ?? 1, count)}年`)
    .replace(REPUBLIC, (_, count: string) => `${yearOf(1912, count)}年`)
    .replace(
      ERA_LETTER,
      (_, era: string, count: string, _sign: string, month: string, day: string) =>
        `${yearOf(ERAS[era] ?? 1, count)}-${month}-${day}`,
    )
    .replace(BUDDHIST, (_, year: string) => ` ${Number(year) - BUDDHIST_LEAD}`);
  return isThai || /\p{Script=Thai}/u.test(common)
    ? common.replace(THAI_YEAR, (year) => String(Number(year) - BUDDHIST_LEAD))
    : common;
}
