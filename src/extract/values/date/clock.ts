import { isLetter } from '../fold.ts';
import { type ZoneMatch, zoneAt } from './time-zone.ts';

/** A time of day found in a text. */
export interface Clock {
  readonly hour: number;
  readonly minute: number;
  readonly second: number | null;
  readonly zone: ZoneMatch | null;
  /** The text without the time. */
  readonly rest: string;
}

type Half = 'am' | 'pm';
const HALVES: ReadonlyArray<readonly [Half, readonly string[]]> = [
  [
    'am',
    [
      'a. m.',
      'a.m.',
      'a.m',
      'am',
      'π.μ.',
      'πμ',
      'de.',
      'sa',
      'öö',
      'ص',
      'ق.ظ.',
      'पूर्वाह्न',
      'לפנה"צ',
      'לפנה״צ',
    ],
  ],
  [
    'pm',
    ['p. m.', 'p.m.', 'p.m', 'pm', 'μ.μ.', 'μμ', 'du.', 'ch', 'ös', 'م', 'ب.ظ.', 'अपराह्न', 'אחה"צ', 'אחה״צ'],
  ],
];
const HALF_BEFORE: ReadonlyArray<readonly [Half, RegExp]> = [
  ['am', /(?:午前|上午|凌晨|清晨|早上|오전|sáng) ?$/],
  ['pm', /(?:午後|下午|中午|晚上|傍晚|오후|chiều|tối) ?$/],
];

/** Hour, minute, second; words before and after that only mark a time belong to it. */
const SHAPES: readonly RegExp[] = [
  /(?<![\d.:,])(?:t ?)?(\d{1,2}) ?: ?(\d{2})(?: ?: ?(\d{2})(?:[.,]\d{1,9})?)?(?![\d])/,
  /(?<!\d)(\d{1,2}) ?[時时點点시] ?(?:(\d{1,2}) ?[分분])? ?(?:(\d{1,2}) ?[秒초])?/,
  /(?<![\d.])(\d{1,2})\.(\d{2})(?:\.(\d{2}))? ?uhr/,
  /(?<!\p{L})(?:klo|kl\.?|pukul|um|om|saat|ora|ore|orele|alle ore|alle|a las|o godz\.|godz\.|v|в|о) (\d{1,2})[.h](\d{2})(?:[.](\d{2}))?(?![\d.]|[/-]\d)/u,
  /(?<![\d.])(\d{1,2}) ?h ?(\d{2})(?: ?m(?:in)?)?(?![\d\p{L}])/u,
  /(?<![\d.])(\d{1,2}) ?(?:uhr|h|o'clock)(?![\d\p{L}])/u,
];
const HOUR_ONLY = /(?<![\d.:/-])(\d{1,2}) ?(?=[ap]\.? ?m\b)/;
const BEFORE_WORDS =
  /(?:^|[ ,])(?:at|um|à|a las|kl\.?|klo|alle|às|saat|pukul|om|o|v|в|о|lúc|เวลา|ساعت|في|בשעה|@|के|den) ?$/u;
const AFTER_WORDS = /^ ?(?:uhr|น\.|час\.?|hod\.?|hrs?\.?|h|ч\.?)(?!\p{L})/u;

/** The first time of day in a text in lower case; undefined for an impossible time (25:00). */
export function takeClock(lower: string): Clock | null | undefined {
  for (const shape of SHAPES) {
    const match = shape.exec(lower);
    if (match !== null) return clockOf(lower, match);
  }
  const match = HOUR_ONLY.exec(lower);
  return match === null ? null : clockOf(lower, match);
}

function clockOf(lower: string, match: RegExpExecArray): Clock | undefined {
  let end = match.index + match[0].length;
  let start = match.index;
  const behind = halfBehind(lower, end);
  let half = behind?.half ?? null;
  if (behind !== null) end = behind.end;
  for (const [name, pattern] of HALF_BEFORE) {
    const before = pattern.exec(lower.slice(Math.max(0, start - 8), start));
    if (before === null) continue;
    half = name;
    start -= before[0].length;
  }
  end += AFTER_WORDS.exec(lower.slice(end, end + 8))?.[0].length ?? 0;
  const gap = /^ ?\(?/.exec(lower.slice(end, end + 2))?.[0].length ?? 0;
  const zone = zoneAt(lower, end + gap);
  if (zone !== null) end = zone.end;
  start -= BEFORE_WORDS.exec(lower.slice(Math.max(0, start - 10), start))?.[0].length ?? 0;

  let hour = Number(match[1]);
  const minute = Number(match[2] ?? 0);
  const second = match[3] === undefined ? null : Math.min(59, Number(match[3]));
  if (half !== null && (hour > 12 || hour === 0)) half = null;
  if (half === 'pm' && hour < 12) hour += 12;
  if (half === 'am' && hour === 12) hour = 0;
  if (hour > 24 || minute > 59 || Number(match[3] ?? 0) > 60 || (hour === 24 && minute + (second ?? 0) > 0))
    return undefined;
  return { hour, minute, second, zone, rest: `${lower.slice(0, start)} ; ${lower.slice(end)}` };
}

function halfBehind(lower: string, end: number): { half: Half; end: number } | null {
  const at = lower[end] === ' ' ? end + 1 : end;
  for (const [half, words] of HALVES) {
    for (const word of words) {
      const stop = at + word.length;
      if (lower.startsWith(word, at) && !isLetter(lower[stop])) return { half, end: stop };
    }
  }
  return null;
}
