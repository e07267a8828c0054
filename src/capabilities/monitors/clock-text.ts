/**
 * Text that tells the time: clocks, the date of today, "3 hours ago", "2 days left". Such text differs from one visit to
 * the next without anything having changed. Whether it does is arithmetic: the times that two visits saw must be as far
 * apart as the visits were. An opening hour or the date of an event that changes is not, and stays a change.
 */
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const DAY_MINUTES = 1_440;
/** Clocks of servers differ, and a clock without seconds is up to a minute behind. */
const CLOCK_TOLERANCE_MINUTES = 2;

const MONTHS = [
  /^(?:jan|ene|gen)/,
  /^(?:feb|fév|fev)/,
  /^(?:mar|mär|mrz|maerz)/,
  /^(?:apr|avr|abr)/,
  /^(?:may|mai|mayo|mag)/,
  /^(?:jun|juin|giu)/,
  /^(?:jul|juil|lug)/,
  /^(?:aug|août|aou|ago)/,
  /^(?:sep|set)/,
  /^(?:oct|okt|ott|out)/,
  /^nov/,
  /^(?:dec|dez|déc|dic)/,
] as const;
const MONTH_NAME = String.raw`(?:jan|feb|fév|mar|mär|apr|avr|abr|may|mai|jun|juin|jul|juil|aug|août|sep|oct|okt|nov|dec|dez|déc|dic|ene|ago)\p{L}*\.?`;
const WEEKDAYS = [
  /^(?:sun|son|dim|dom)/,
  /^(?:mon|lun)/,
  /^(?:tue|die|mar)/,
  /^(?:wed|mit|mer|mié)/,
  /^(?:thu|don|jeu|jue)/,
  /^(?:fri|fre|ven|vie)/,
  /^(?:sat|sam|sáb)/,
] as const;
const WEEKDAY_NAME = String.raw`(?:sunday|monday|tuesday|wednesday|thursday|friday|saturday|sonntag|montag|dienstag|mittwoch|donnerstag|freitag|samstag|dimanche|lundi|mardi|mercredi|jeudi|vendredi|samedi|domingo|lunes|martes|miércoles|jueves|viernes|sábado|sun|mon|tue|wed|thu|fri|sat)(?![\p{L}])`;
const UNIT_NAME = String.raw`(?:seconds?|secs?|sekunden?|secondes?|segundos?|minutes?|mins?|minuten?|minutos?|hours?|hrs?|stunden?|heures?|horas?|days?|tage?n?|jours?|días?|weeks?|wochen?|semaines?|semanas?|months?|monate?n?|mois|mes(?:es)?|years?|jahre?n?|ans?|años?)(?![\p{L}])`;
const UNITS_MS: readonly (readonly [RegExp, number])[] = [
  [/^s(?:e[ckg])/, 1_000],
  [/^min/, MINUTE_MS],
  [/^(?:h|stu)/, HOUR_MS],
  [/^(?:d|ta|jou)/, DAY_MS],
  [/^(?:we|wo|sem)/, 7 * DAY_MS],
  [/^(?:mo|mes)/, 30 * DAY_MS],
  [/^(?:y|ja|a)/, 365 * DAY_MS],
];

const SPAN = new RegExp(
  [
    // 3 hours ago, vor 3 Stunden, 2 days left, in 5 minutes
    String.raw`(?<amount>\d{1,3})\s*(?<unit>${UNIT_NAME})(?=\s+(?:ago|earlier|left|remaining|to go))`,
    String.raw`(?<=(?<![\p{L}])(?:vor|noch|in|il y a|dans|hace|dentro de)\s+)(?<amountBehind>\d{1,3})\s*(?<unitBehind>${UNIT_NAME})`,
    '(?<now>just now|gerade eben|à l’instant)',
    String.raw`(?<relative>yesterday|today|gestern|heute|hier|aujourd’hui|ayer|hoy)(?![\p{L}])`,
    String.raw`(?<iso>\d{4}-\d{2}-\d{2})`,
    String.raw`(?<numeric>\d{1,2}[./]\d{1,2}[./]\d{4})`,
    String.raw`(?<named>\d{1,2}\.?\s+(?:de\s+)?${MONTH_NAME}(?:\s+(?:de\s+)?\d{4})?|${MONTH_NAME}\s+\d{1,2}(?:st|nd|rd|th)?(?:,?\s+\d{4})?)`,
    `(?<weekday>${WEEKDAY_NAME})`,
    String.raw`(?<clock>\d{1,2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:\s?[ap]\.?m\.?)?)`,
  ].join('|'),
  'giu',
);

/** A line with each expression of time left out, so that lines that differ in nothing else are the same. */
export const withoutTimes = (line: string): string => line.replace(SPAN, '\u0001');

/** Whether two lines say the same, but for times that have gone on as much as the clock has between the two visits. */
export function isSameButTime(before: string, beforeAt: number, after: string, afterAt: number): boolean {
  if (before === after) return true;
  const [from, to] = [[...before.matchAll(SPAN)], [...after.matchAll(SPAN)]];
  if (from.length === 0 || from.length !== to.length || withoutTimes(before) !== withoutTimes(after)) {
    return false;
  }
  return from.every((span, at) => {
    const other = to[at];
    return other !== undefined && hasGoneOn(span, beforeAt, other, afterAt);
  });
}

function hasGoneOn(from: RegExpExecArray, fromAt: number, to: RegExpExecArray, toAt: number): boolean {
  if (from[0] === to[0]) return true;
  const [a, b] = [from.groups ?? {}, to.groups ?? {}];
  if (a.clock !== undefined && b.clock !== undefined) {
    return hasClockGoneOn(minutesOf(a.clock), minutesOf(b.clock), toAt - fromAt);
  }
  const [one, other] = [distanceOf(a), distanceOf(b)];
  if (one !== null && other !== null) return isSameMoment(one, fromAt, other, toAt);
  const [earlier, later] = [dayOf(a, fromAt), dayOf(b, toAt)];
  return earlier !== null && later !== null && isToday(earlier, fromAt) && isToday(later, toAt);
}

function minutesOf(clock: string): number {
  const [, hours = '0', minutes = '0'] = /^(\d+):(\d+)/.exec(clock) ?? [];
  const isAfternoon = /p\.?m/i.test(clock);
  return (
    ((Number(hours) % (isAfternoon || /a\.?m/i.test(clock) ? 12 : 24)) + (isAfternoon ? 12 : 0)) * 60 +
    Number(minutes)
  );
}

/** Forward as a clock, or backward as a countdown. */
function hasClockGoneOn(from: number, to: number, elapsedMs: number): boolean {
  const elapsed = elapsedMs / MINUTE_MS;
  const isNear = (minutes: number) => {
    const rest = ((minutes % DAY_MINUTES) + DAY_MINUTES) % DAY_MINUTES;
    return Math.min(rest, DAY_MINUTES - rest) <= CLOCK_TOLERANCE_MINUTES;
  };
  return isNear(to - from - elapsed) || isNear(from - to - elapsed);
}

interface Distance {
  readonly ms: number;
  readonly unitMs: number;
}

function distanceOf(groups: Record<string, string | undefined>): Distance | null {
  const { now, relative, amountBehind, unitBehind } = groups;
  const { amount = amountBehind, unit = unitBehind } = groups;
  if (now !== undefined) return { ms: 0, unitMs: MINUTE_MS };
  if (relative !== undefined) {
    const isToday = /^(?:today|heute|aujourd|hoy)/i.test(relative);
    return { ms: isToday ? 0 : DAY_MS, unitMs: DAY_MS };
  }
  if (amount === undefined || unit === undefined) return null;
  const unitMs = UNITS_MS.find(([name]) => name.test(unit.toLowerCase()))?.[1];
  return unitMs === undefined ? null : { ms: Number(amount) * unitMs, unitMs };
}

/** As far from now as the clock has gone on: further in the past, or less far ahead. Each is rounded to its unit. */
function isSameMoment(one: Distance, oneAt: number, other: Distance, otherAt: number): boolean {
  const elapsed = otherAt - oneAt;
  const tolerance = one.unitMs + other.unitMs;
  const hasGrown = (by: number) => by >= 0 && Math.abs(by - elapsed) <= tolerance;
  return hasGrown(other.ms - one.ms) || hasGrown(one.ms - other.ms);
}

/** Days since 1970, several where the order of day and month is not certain; null when the text is no date. */
function dayOf(groups: Record<string, string | undefined>, at: number): readonly number[] | null {
  const { iso, numeric, named, weekday } = groups;
  if (iso !== undefined) return [Math.floor(Date.parse(iso) / DAY_MS)];
  if (numeric !== undefined) {
    const [first = 0, second = 0, year = 0] = numeric.split(/[./]/).map(Number);
    return [Date.UTC(year, second - 1, first) / DAY_MS, Date.UTC(year, first - 1, second) / DAY_MS];
  }
  if (named !== undefined) {
    const [day = ''] = /\d{1,2}/.exec(named) ?? [];
    const [year] = /\d{4}/.exec(named) ?? [];
    const [name = ''] = /\p{L}{3,}/u.exec(named.replace(/\bde\b/g, '')) ?? [];
    const month = MONTHS.findIndex((pattern) => pattern.test(name.toLowerCase()));
    if (month < 0) return null;
    return [Date.UTC(Number(year ?? new Date(at).getUTCFullYear()), month, Number(day)) / DAY_MS];
  }
  if (weekday === undefined) return null;
  const wanted = WEEKDAYS.findIndex((pattern) => pattern.test(weekday.toLowerCase()));
  const today = Math.floor(at / DAY_MS);
  const around = [today - 1, today, today + 1];
  return around.filter((day) => new Date(day * DAY_MS).getUTCDay() === wanted);
}

/** Tells whether one of the days is today in any time zone. */
const isToday = (days: readonly number[], at: number): boolean =>
  days.some((day) => Math.abs(day - Math.floor(at / DAY_MS)) <= 1);

/**
 * Where in the later line times stand that have gone on as much as the clock has, as ranges of characters. Empty when the
 * lines have different times, or none.
 */
export function movedTimes(
  before: string,
  beforeAt: number,
  after: string,
  afterAt: number,
): readonly { readonly from: number; readonly to: number }[] {
  const [from, to] = [[...before.matchAll(SPAN)], [...after.matchAll(SPAN)]];
  if (from.length !== to.length) return [];
  return to.flatMap((span, at) => {
    const other = from[at];
    if (other === undefined || !hasGoneOn(other, beforeAt, span, afterAt)) return [];
    return [{ from: span.index, to: span.index + span[0].length }];
  });
}

/** Words right beside a number that counts visitors: such a number says nothing about what the page is about. */
const COUNTER_WORD =
  '(?:views|viewers|viewing|visits|visitors|watching|online|people (?:are|is)|users (?:are|is)|hits|downloads|likes|shares|followers|besucher|aufrufe|zugriffe|visiteurs|vues|visitas)';
const COUNTER = new RegExp(
  String.raw`(?<![\d.,'’\u00a0\u202f])(?<behind>[\d.,'’\u00a0\u202f]*\d)[km]?\s+(?:\p{L}+\s+)?${COUNTER_WORD}(?![\p{L}])|(?<![\p{L}])(?:${COUNTER_WORD}\s*[:=]?|viewed|visited|shared|read by)\s+(?<ahead>\d[\d.,'’\u00a0\u202f]*)(?=\s*(?:times|people|mal|$))`,
  'giu',
);

/** Where in the line numbers stand that count visitors, as places of their first characters. */
export const counterPlaces = (line: string): readonly number[] =>
  [...line.matchAll(COUNTER)].map((match) => match.index + match[0].search(/\d/));
