import { fold, lowerInPlace, PhraseTable } from '../text.ts';
import { LANGUAGES } from './named-date.ts';

export type RelativeUnit = 'second' | 'minute' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

/** So many units from now; negative is past. */
export interface RelativeDate {
  readonly unit: RelativeUnit;
  readonly count: number;
}

const UNITS: readonly RelativeUnit[] = [
  'second',
  'minute',
  'hour',
  'day',
  'week',
  'month',
  'quarter',
  'year',
];
/** One count for every plural form a language may have. */
const COUNTS = [1, 2, 3, 5, 11, 21];

/** Spoken numbers that stand before units. */
const NUMBER_WORDS: Readonly<Record<number, string>> = {
  1: 'a an one ein eine einem einer einen un une una uno um uma een en ett et jedną jeden jednou один одну одна bir egy yksi một satu sebuah 一 한',
  2: 'two zwei deux dos due dois duas twee dwa dwie два две två to iki kaksi hai dua 两 兩 二 두 couple',
  3: 'three drei trois tres tre três drie trzy три tři üç kolme ba tiga 三 세',
  4: 'four vier quatre cuatro quattro quatro cztery четыре čtyři fyra dört 四',
  5: 'five fünf cinq cinco cinque vijf pięć пять pět fem beş 五',
  6: 'six sechs seis sei zes sześć шесть sex altı 六',
  7: 'seven sieben sept siete sette sete zeven семь sju 七',
  10: 'ten zehn dix diez dieci dez tien десять tio on 十',
};
const NOW =
  "just now,right now,now,moments ago,a moment ago,a few seconds ago,seconds ago,gerade eben,soeben,eben gerade,à l’instant,à l'instant,ahora mismo,hace un momento,proprio ora,poco fa,agora mesmo,zojuist,zonet,przed chwilą,právě teď,právě nyní,just nu,lige nu,akkurat nå,juuri nyt,только что,щойно,az imént,most,chiar acum,az önce,şimdi,μόλις τώρα,刚刚,剛剛,たった今,방금,الآن,עכשיו,अभी,เมื่อสักครู่,vừa xong,baru saja";
const SHORT_FORMS: ReadonlyArray<readonly [RelativeUnit, string]> = [
  ['second', '#s ago,#sec ago,#secs ago'],
  ['minute', '#m ago,#min ago,#mins ago,vor#min,il y a#min,hace#min,#分钟以前'],
  ['hour', '#h ago,#hr ago,#hrs ago,vor#std,il y a#h,hace#h,#小时以前'],
  ['day', 'for#dager siden,for#dag siden,#d ago,#day ago,#days ago,vor#tage,#天以前,#дн назад,#日以前'],
  ['week', '#w ago,#wk ago,#wks ago'],
  ['month', '#mo ago,#mos ago,vor#mon'],
  ['year', '#y ago,#yr ago,#yrs ago'],
];

const key = (text: string): string =>
  lowerInPlace(fold(text, 200))
    .replaceAll('.', '')
    .replace(/['’]/g, ' ')
    .replace(/ {2,}/g, ' ')
    .replace(/ ?# ?/g, '#')
    .trim();

const MORE_DAYS: ReadonlyArray<readonly [number, string]> = [
  [-1, 'вчора,igår,igar,i gar'],
  [0, 'idag,сегодня,сьогодні'],
];

interface Tables {
  /** `vor#tagen` → day, −1. */
  readonly counted: ReadonlyMap<string, RelativeDate>;
  /** `gestern` → day, −1. */
  readonly fixed: PhraseTable<RelativeDate>;
  /** Keys of `counted` that only one takes: `#hour ago`, but not `#hours ago`. */
  readonly singular: ReadonlySet<string>;
}

let tables: Tables | null = null;

/** The phrases of Intl in all languages, inverted; built on first use. */
function relativeTables(): Tables {
  if (tables !== null) return tables;
  const counted = new Map<string, RelativeDate>();
  const fixed: [string, RelativeDate][] = [];
  const singular = new Set<string>();
  const put = (
    parts: readonly { readonly type: string; readonly value: string }[],
    meant: RelativeDate,
  ): void => {
    const hasCount = parts.some(({ type }) => type === 'integer');
    const text = key(parts.map(({ type, value }) => (type === 'integer' ? '#' : value)).join(''));
    if (text.includes('(') || text.includes('+') || /^[#-]*$/.test(text)) return;
    if (!hasCount) fixed.push([text, meant]);
    else if (Math.abs(meant.count) === 1) singular.add(text);
    // Slavic languages say twenty-one hour.
    else if (Math.abs(meant.count) !== 21) singular.delete(text);
    if (hasCount && !counted.has(text)) counted.set(text, { ...meant, count: Math.sign(meant.count) });
  };
  for (const language of LANGUAGES) {
    for (const style of ['long', 'short', 'narrow'] as const) {
      const always = new Intl.RelativeTimeFormat(`${language}-u-nu-latn`, { style });
      const auto = new Intl.RelativeTimeFormat(`${language}-u-nu-latn`, { style, numeric: 'auto' });
      for (const unit of UNITS) {
        for (const count of COUNTS) {
          for (const signed of [-count, count])
            put(always.formatToParts(signed, unit), { unit, count: signed });
        }
        for (const count of unit === 'hour' || unit === 'minute' || style === 'narrow'
          ? []
          : [-2, -1, 0, 1, 2]) {
          put(auto.formatToParts(count, unit), { unit, count });
        }
      }
    }
  }
  for (const [unit, forms] of SHORT_FORMS) {
    for (const form of forms.split(',')) if (!counted.has(form)) counted.set(form, { unit, count: -1 });
  }
  for (const [count, words] of MORE_DAYS) {
    for (const word of words.split(',')) fixed.push([key(word), { unit: 'day', count }]);
  }
  for (const word of NOW.split(',')) fixed.push([key(word), { unit: 'second', count: 0 }]);
  tables = { counted, singular, fixed: new PhraseTable(fixed) };
  return tables;
}

const numberWords: ReadonlyMap<string, number> = new Map(
  Object.entries(NUMBER_WORDS).flatMap(([value, words]) =>
    words.split(' ').map((word) => [word, Number(value)]),
  ),
);

const MAX_WORDS = 24;
const MAX_WINDOW = 4;
/** Limit: larger counts are no dates, and leave the calendar. */
const MAX_COUNT = 9_999;

/** Reads `3 hours ago`, `vor 2 Tagen`; null for everything else. `lower` is folded and in lower case. */
export function readDistance(lower: string): RelativeDate | null {
  const text = key(lower.slice(0, 200));
  return readCounted(text) ?? readSpoken(text) ?? readSingular(text);
}

/** Reads `yesterday`, `last month`, `gestern`. */
export function readRelativeName(lower: string): RelativeDate | null {
  return readFixed(key(lower.slice(0, 200)));
}

/** `час назад`: one is not always said. */
function readSingular(text: string): RelativeDate | null {
  const { counted, singular } = relativeTables();
  const form = `#${text}`;
  return singular.has(form) ? (counted.get(form) ?? null) : null;
}

function readCounted(text: string): RelativeDate | null {
  for (const match of text.matchAll(/\d{1,4}(?!\d)/g)) {
    const before = text.slice(0, match.index).trimEnd();
    const after = text.slice(match.index + match[0].length).trimStart();
    const meant = around(before, after);
    if (meant !== null)
      return { unit: meant.unit, count: meant.count * Math.min(Number(match[0]), MAX_COUNT) };
  }
  return null;
}

function readSpoken(text: string): RelativeDate | null {
  const parts = text.split(' ', MAX_WORDS);
  for (const [index, word] of parts.entries()) {
    const value = numberWords.get(word);
    if (value === undefined) continue;
    const meant = around(parts.slice(0, index).join(' '), parts.slice(index + 1).join(' '));
    if (meant !== null) return { unit: meant.unit, count: meant.count * value };
  }
  return null;
}

/** The unit given by the words nearest to a number. */
function around(before: string, after: string): RelativeDate | null {
  const { counted } = relativeTables();
  const left = before === '' ? [] : before.split(' ').slice(-MAX_WINDOW);
  const right = after === '' ? [] : after.split(/[ ,;]+/, MAX_WINDOW + 1).slice(0, MAX_WINDOW);
  for (let size = left.length + right.length; size > 0; size--) {
    for (let ahead = Math.min(size, right.length); ahead >= 0; ahead--) {
      const behind = size - ahead;
      if (behind > left.length) break;
      const head = behind === 0 ? '' : left.slice(-behind).join(' ');
      const meant = counted.get(`${head}#${right.slice(0, ahead).join(' ')}`);
      if (meant !== undefined) return meant;
    }
  }
  return null;
}

function readFixed(text: string): RelativeDate | null {
  const { fixed } = relativeTables();
  const whole = fixed.get(text);
  if (whole !== undefined) return whole;
  let best: { readonly size: number; readonly value: RelativeDate } | null = null;
  for (let at = 0; at < text.length; at++) {
    const found = fixed.at(text, at);
    // `now` is also an `or`, an `hour` and a `most`: it counts only alone.
    if (found === null || found.value.unit === 'second') continue;
    if (best === null || found.end - at > best.size) best = { size: found.end - at, value: found.value };
  }
  return best?.value ?? null;
}
