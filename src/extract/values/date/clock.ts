import { ownString } from '../../../lib/own-memory.ts';
import { isLetter } from '../text.ts';

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

/** Zone names with the minutes they are ahead of UTC; the first is the most common, the others are possible. */
const ABBREVIATIONS: ReadonlyMap<string, readonly number[]> = new Map(
  Object.entries({
    z: [0],
    utc: [0],
    gmt: [0],
    ut: [0],
    wet: [0],
    est: [-300],
    edt: [-240],
    cst: [-360, 480],
    cdt: [-300],
    mst: [-420],
    mdt: [-360],
    pst: [-480],
    pdt: [-420],
    et: [-300, -240],
    pt: [-480, -420],
    ct: [-360, -300],
    mt: [-420, -360],
    akst: [-540],
    akdt: [-480],
    hst: [-600],
    ast: [-240, 180],
    adt: [-180],
    nst: [-210],
    ndt: [-150],
    brt: [-180],
    art: [-180],
    clt: [-240],
    clst: [-180],
    cot: [-300],
    pet: [-300],
    bst: [60],
    ist: [330, 120, 60],
    west: [60],
    cet: [60],
    mez: [60],
    cest: [120],
    mesz: [120],
    eet: [120],
    oez: [120],
    eest: [180],
    oesz: [180],
    idt: [180],
    sast: [120],
    cat: [120],
    wat: [60],
    eat: [180],
    msk: [180],
    мск: [180],
    trt: [180],
    irst: [210],
    gst: [240],
    pkt: [300],
    npt: [345],
    bdt: [360],
    ict: [420],
    wib: [420],
    wita: [480],
    wit: [540],
    sgt: [480],
    hkt: [480],
    pht: [480],
    awst: [480],
    jst: [540],
    kst: [540],
    acst: [570],
    acdt: [630],
    aest: [600],
    aedt: [660],
    nzst: [720],
    nzdt: [780],
  }),
);

const OFFSET = /(?:(?:utc|gmt) ?)?([+\-−])(\d{1,2})(?::?(\d{2}))?(?!\d)/y;
const NAME = /[a-zа-я]{1,4}(?![a-zа-я/])/y;
const IANA =
  /(?:africa|america|antarctica|arctic|asia|atlantic|australia|europe|indian|pacific)\/[a-z_]+(?:\/[a-z_]+)?/y;
const MAX_OFFSET_MINUTES = 14 * 60;

/** Limit of the cache: hostile zone names must not fill the memory. */
const MAX_FORMATTERS = 64;
const formatters = new Map<string, Intl.DateTimeFormat | null>();

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

/** The zone that begins a text: what it may be ahead of UTC, and where it ends. */
interface ZoneMatch {
  readonly offsets: readonly number[];
  /** An IANA name, whose offset depends on the day. */
  readonly name: string | null;
  readonly end: number;
}

function zoneAt(lower: string, start: number): ZoneMatch | null {
  OFFSET.lastIndex = start;
  const offset = OFFSET.exec(lower);
  if (offset !== null) {
    const minutes = Number(offset[2]) * 60 + Number(offset[3] ?? 0);
    if (minutes > MAX_OFFSET_MINUTES || Number(offset[3] ?? 0) > 59) return null;
    return { offsets: [offset[1] === '+' ? minutes : 0 - minutes], name: null, end: OFFSET.lastIndex };
  }
  IANA.lastIndex = start;
  const name = IANA.exec(lower)?.[0];
  if (name !== undefined && formatterOf(name) !== null)
    return { offsets: [], name, end: start + name.length };
  NAME.lastIndex = start;
  const word = NAME.exec(lower)?.[0];
  const offsets = word === undefined ? undefined : ABBREVIATIONS.get(word);
  return word === undefined || offsets === undefined
    ? null
    : { offsets, name: null, end: start + word.length };
}

function formatterOf(timeZone: string): Intl.DateTimeFormat | null {
  const known = formatters.get(timeZone);
  if (known !== undefined) return known;
  if (formatters.size >= MAX_FORMATTERS) formatters.clear();
  let formatter: Intl.DateTimeFormat | null = null;
  try {
    formatter = new Intl.DateTimeFormat('en-US', { timeZone, timeZoneName: 'longOffset', year: 'numeric' });
  } catch {
    // No such zone: times stay without one.
  }
  formatters.set(ownString(timeZone), formatter);
  return formatter;
}

/** Minutes a zone is ahead of UTC at an instant; null for a zone that does not exist. */
export function offsetAt(timeZone: string, ms: number): number | null {
  const formatter = formatterOf(timeZone);
  if (formatter === null || !Number.isFinite(ms) || Math.abs(ms) > 8.64e15) return null;
  const name = formatter.formatToParts(ms).find(({ type }) => type === 'timeZoneName')?.value ?? '';
  const match = /([+-])(\d{2}):(\d{2})/.exec(name);
  if (match === null) return 0;
  const minutes = Number(match[2]) * 60 + Number(match[3]);
  return match[1] === '-' ? 0 - minutes : minutes;
}

/** The offset at a wall-clock time, given as if it were UTC. */
export function offsetOfLocal(timeZone: string, localMs: number): number | null {
  const guess = offsetAt(timeZone, localMs);
  return guess === null ? null : offsetAt(timeZone, localMs - guess * 60_000);
}
