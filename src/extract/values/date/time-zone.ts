import { ownString } from '../../../lib/own-memory.ts';

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

/** The zone that begins a text: what it may be ahead of UTC, and where it ends. */
export interface ZoneMatch {
  readonly offsets: readonly number[];
  /** An IANA name, whose offset depends on the day. */
  readonly name: string | null;
  readonly end: number;
}

const OFFSET = /(?:(?:utc|gmt) ?)?([+\-−])(\d{1,2})(?::?(\d{2}))?(?!\d)/y;
const NAME = /[a-zа-я]{1,4}(?![a-zа-я/])/y;
const IANA =
  /(?:africa|america|antarctica|arctic|asia|atlantic|australia|europe|indian|pacific)\/[a-z_]+(?:\/[a-z_]+)?/y;
const MAX_OFFSET_MINUTES = 14 * 60;

export function zoneAt(lower: string, start: number): ZoneMatch | null {
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

/** Limit of the cache: hostile zone names must not fill the memory. */
const MAX_FORMATTERS = 64;
const formatters = new Map<string, Intl.DateTimeFormat | null>();

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
