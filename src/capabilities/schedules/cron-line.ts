import { Cron } from 'croner';
import { BoundedMap } from '../../lib/bounded-map.ts';

/**
 * The times that a cron line names, as local times without a zone (see zone-time.ts). croner finds them. Which lines are
 * taken is decided here, because croner reads some lines as something else than their authors meant: `5*` as 5, `JANFEB`
 * as December, `5L` as the fifth and the last day of the month.
 */
export interface CronLine {
  /** The first time after `local`. A line has a next time always: one that never fires is refused. */
  next(local: number): number;
  /** Whether two of its times that follow each other are less than `ms` apart. */
  hasTimesWithin(ms: number): boolean;
}

export type ReadCronLine = { readonly line: CronLine } | { readonly problem: string };

const MAX_CHARACTERS = 256;
const MAX_LINES = 1_000;
const lines = new BoundedMap<string, ReadCronLine>(MAX_LINES);

/** A line of five fields, of six with seconds in front, or one of the names such as `@daily`. */
export function readCronLine(text: string): ReadCronLine {
  if (text.length > MAX_CHARACTERS) return { problem: `is longer than ${MAX_CHARACTERS} characters` };
  return lines.getOrCreate(text, () => read(text));
}

interface Field {
  readonly name: string;
  readonly min: number;
  readonly max: number;
  readonly names: readonly string[];
  /** Items that only this field knows, with what they mean. */
  readonly special: RegExp | null;
}

const MONTHS = 'JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC'.split(' ');
const DAYS = 'SUN MON TUE WED THU FRI SAT'.split(' ');
const plain = (name: string, min: number, max: number): Field => ({
  name,
  min,
  max,
  names: [],
  special: null,
});

const DAY_FIELD = 3;
const MONTH_FIELD = 4;
const WEEKDAY_FIELD = 5;
const FIELDS: readonly Field[] = [
  plain('second', 0, 59),
  plain('minute', 0, 59),
  plain('hour', 0, 23),
  { ...plain('day of month', 1, 31), special: /^(?:L|LW|(?:[1-9]|[12]\d|3[01])W)$/ },
  { ...plain('month', 1, 12), names: MONTHS },
  {
    ...plain('day of week', 0, 7),
    names: DAYS,
    special: /^(?:[0-7]|SUN|MON|TUE|WED|THU|FRI|SAT)(?:L|#[1-5])$/,
  },
];

const NICKNAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '@yearly': '0 0 1 1 *',
    '@annually': '0 0 1 1 *',
    '@monthly': '0 0 1 * *',
    '@weekly': '0 0 * * 0',
    '@daily': '0 0 * * *',
    '@midnight': '0 0 * * *',
    '@hourly': '0 * * * *',
  }),
);

/** 29 February is a day of February. */
const DAYS_OF_MONTH = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function read(text: string): ReadCronLine {
  const given = text.trim().toUpperCase();
  const nickname = NICKNAMES.get(given.toLowerCase());
  if (nickname === undefined && given.startsWith('@')) {
    return { problem: `has no name ${text.trim()}; the names are ${[...NICKNAMES.keys()].join(', ')}` };
  }
  const parts = (nickname ?? given).split(/\s+/).filter((part) => part !== '');
  if (parts.length !== 5 && parts.length !== 6) {
    return { problem: `has ${parts.length} fields; 5 are expected, or 6 with seconds in front` };
  }
  const fields = parts.length === 5 ? ['0', ...parts] : parts;
  for (const [index, field] of FIELDS.entries()) {
    const problem = fieldProblem(fields[index] ?? '', field);
    if (problem !== null) return { problem: `${field.name}: ${problem}` };
  }
  if (neverFires(fields)) return { problem: 'never fires: none of its months has such a day' };
  const pattern = fields.map((field) => (field === '?' ? '*' : field)).join(' ');
  try {
    return { line: lineOf(new Cron(pattern, { mode: '6-part', utcOffset: 0 }), fields[0] ?? '') };
  } catch (error) {
    const why = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error);
    return { problem: why };
  }
}

const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;
/** Where times are compared with each other: a Saturday, and the first day of a leap year. */
const COMPARED_FROM = Date.UTC(2028, 0, 1) - 1;
const COMPARED_MS = 400 * DAY_MS;
/** The times of one day by the minute, and of the day after where they meet. */
const MOST_COMPARED = 1_500;

function lineOf(cron: Cron, seconds: string): CronLine {
  function next(local: number): number {
    const found = cron.nextRun(new Date(local));
    if (found === null) throw new Error(`The cron line "${cron.getPattern()}" has no time after ${local}.`);
    return found.getTime();
  }
  return {
    next,
    hasTimesWithin(ms) {
      // Times that have the same second are a minute apart at least, which is what servers ask for as a rule.
      if (ms <= MINUTE_MS && /^\d+$/.test(seconds)) return false;
      let time = next(COMPARED_FROM);
      const end = time + COMPARED_MS;
      for (let compared = 0; compared < MOST_COMPARED && time < end; compared++) {
        const following = next(time);
        if (following - time < ms) return true;
        time = following;
      }
      return false;
    },
  };
}

function fieldProblem(text: string, field: Field): string | null {
  if (text === '?') {
    const isDay = field === FIELDS[DAY_FIELD] || field === FIELDS[WEEKDAY_FIELD];
    return isDay ? null : '"?" stands for a day only; write "*"';
  }
  const items = text.split(',');
  if (items.length > 1 && items.includes('LW')) return '"LW" stands alone';
  for (const item of items) {
    const problem = itemProblem(item, field);
    if (problem !== null) return problem;
  }
  return null;
}

function itemProblem(item: string, field: Field): string | null {
  if (item === '') return 'an entry of the list is empty';
  if (field.special?.test(item) === true) return null;
  const [range = '', step, ...more] = item.split('/');
  if (more.length > 0) return `"${item}" has more than one step`;
  if (step !== undefined) {
    const problem = stepProblem(step, field);
    if (problem !== null) return problem;
  }
  if (range === '*') return null;
  const [from = '', to, ...rest] = range.split('-');
  const low = numberOf(from, field);
  const high = to === undefined ? low : numberOf(to, field);
  if (rest.length > 0 || low === null || high === null) return `"${item}" is none of ${expected(field)}`;
  if (low > high && !isEndingOnSunday(to, field)) return `the range "${range}" begins after its end`;
  if (step !== undefined && to === undefined) {
    return `"${item}" has a step but no range; write "${from}-${field.max}/${step}" or "*/${step}"`;
  }
  return null;
}

/** FRI-SUN: Sunday at the end of a range is the seventh day. */
const isEndingOnSunday = (to: string | undefined, { names }: Field) => names === DAYS && to === 'SUN';

function stepProblem(step: string, { min, max }: Field): string | null {
  const most = max - min + 1;
  const isValid = /^\d{1,2}$/.test(step) && Number(step) >= 1 && Number(step) <= most;
  return isValid ? null : `the step "${step}" is not between 1 and ${most}`;
}

function numberOf(text: string, { names, min, max }: Field): number | null {
  const named = names.indexOf(text);
  if (named !== -1) return named + (names === MONTHS ? 1 : 0);
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return value >= min && value <= max ? value : null;
}

function expected({ min, max, names, special }: Field): string {
  const named = names.length === 0 ? '' : `, ${names[0]} to ${names.at(-1)}`;
  if (special === null) return `${min} to ${max}${named}, a range, "*"`;
  const own = names === DAYS ? '5L, 5#2' : 'L, LW, 15W';
  return `${min} to ${max}${named}, a range, "*", ${own}`;
}

/** Days that none of the months has. A weekday would make the line fire on other days as well. */
function neverFires(fields: readonly string[]): boolean {
  const [days = '', months = '', weekdays = ''] = [
    fields[DAY_FIELD],
    fields[MONTH_FIELD],
    fields[WEEKDAY_FIELD],
  ];
  if (weekdays !== '*' && weekdays !== '?') return false;
  const firstDay = Math.min(...days.split(',').map(firstDayOf));
  const longest = Math.max(...DAYS_OF_MONTH.filter((_, index) => hasMonth(months, index + 1)));
  return firstDay > longest;
}

function firstDayOf(item: string): number {
  const value = Number.parseInt(item, 10);
  return Number.isNaN(value) ? 1 : value;
}

function hasMonth(months: string, month: number): boolean {
  const field = FIELDS[MONTH_FIELD] as Field;
  return months.split(',').some((item) => {
    const [range = '', step = '1'] = item.split('/');
    const [from = '', to = from] = range.split('-');
    const low = range === '*' ? 1 : (numberOf(from, field) ?? 1);
    const high = range === '*' ? 12 : (numberOf(to, field) ?? 12);
    return month >= low && month <= high && (month - low) % Number(step) === 0;
  });
}
