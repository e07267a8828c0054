import { randomUUID } from 'node:crypto';
import type { ChangeId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import { CHANGE_KINDS, type ChangeKind, type Monitor } from '../../core/model/monitor.ts';
import type { NewEvent } from '../../core/ports/event-store.ts';
import type { NewMonitorChange } from '../../core/ports/monitor-store.ts';
import type { PageComparison } from '../../extract/diff/compare-pages.ts';
import type { FieldChange } from '../../extract/diff/json-diff.ts';
import type { TextSegment } from '../../extract/diff/text-diff.ts';
import { describeShare } from '../../lib/human-units.ts';
import { isoTime } from '../../lib/iso-time.ts';
import type { PageChange } from './decide-change.ts';

/** A change that a check has found. */
export interface FoundChange extends PageChange {
  readonly url: string;
  /** For a change of kind MOVED, the URL at which the page was before. */
  readonly fromUrl: string | null;
}

export interface PageTrouble {
  readonly url: string;
  readonly reason: string;
  readonly since: number;
}

/** What is stored of a change beside its row. */
export interface ChangeData {
  /** Null of pages that are new, gone or elsewhere, and where comparing takes too long. */
  readonly comparison: PageComparison | null;
  /** The pages that the two contents were seen on; null where there is none, or none any more. */
  readonly before: PageChange['source'];
  readonly after: PageChange['source'];
}

export interface ReportedChange {
  readonly row: NewMonitorChange;
  readonly change: FoundChange;
  readonly comparison: PageComparison | null;
}

/** Characters of diffs in events: an event of one page, and each page in the event of a check. */
const PAGE_EVENT_CHARS = 8_000;
const CHECK_EVENT_CHARS = 2_000;
/** Pages that the event of a check names. */
const MOST_NAMED = 20;

/** What changed, in a sentence for people, with a short excerpt. */

const MOST_FIELDS = 3;
const MOST_VALUE_CHARS = 80;
const MOST_SENTENCE_CHARS = 300;

export function monitorChange(change: FoundChange, comparison: PageComparison | null): ReportedChange {
  const { kind, url, fromUrl, title } = change;
  const data: ChangeData = { comparison, before: change.formerSource, after: change.source };
  const row: NewMonitorChange = {
    id: `chg_${randomUUID()}` as ChangeId,
    kind,
    url,
    fromUrl,
    title,
    summary: changeSentence({ kind, url, fromUrl, title, comparison }),
    data: new Uint8Array(Buffer.from(JSON.stringify(data))),
  };
  return { row, change, comparison };
}

interface CheckReport {
  readonly monitor: Monitor;
  readonly job: Job;
  readonly changes: readonly ReportedChange[];
  readonly failed: readonly PageTrouble[];
  readonly recovered: readonly PageTrouble[];
}

/** The events of a check: one for each page that changed, and one for all; none without a change. */
export function checkEvents({ monitor, job, changes, failed, recovered }: CheckReport): NewEvent[] {
  const { accountId, id: monitorId, name } = monitor;
  const jobId = job.id;
  // What stored credentials give access to is for keys that may read it; receivers of events have none.
  const isPrivate = job.options.credentials === 'read' && job.options.page.session !== null;
  const told = ({ row, change, comparison }: ReportedChange, chars: number) => ({
    changeId: row.id,
    kind: row.kind,
    url: row.url,
    ...(row.fromUrl === null ? {} : { fromUrl: row.fromUrl }),
    ...(isPrivate ? {} : { title: row.title, text: row.summary }),
    ...(change.source === null ? {} : { taskId: change.source.taskId }),
    ...(comparison === null || isPrivate ? {} : { diff: boundedComparison(comparison, chars) }),
    ...(isPrivate ? { diffOmitted: 'credentials' } : {}),
  });
  const event = (type: NewEvent['type'], data: NewEvent['data']): NewEvent => ({
    type,
    accountId,
    jobId,
    data: { monitorId, monitorName: name, ...data },
  });
  const troubles = (pages: readonly PageTrouble[]) => ({
    pages: pages
      .slice(0, MOST_NAMED)
      .map(({ url, reason, since }) => ({ url, reason, since: isoTime(since) })),
    count: pages.length,
  });
  return [
    ...changes.map((change) => event('page.changed', told(change, PAGE_EVENT_CHARS))),
    ...(changes.length === 0
      ? []
      : [
          event('monitor.changed', {
            count: changes.length,
            kinds: countsOf(changes.map(({ row }) => row.kind)),
            changes: changes.slice(0, MOST_NAMED).map((change) => told(change, CHECK_EVENT_CHARS)),
          }),
        ]),
    ...(failed.length === 0 ? [] : [event('monitor.failed', troubles(failed))]),
    ...(recovered.length === 0 ? [] : [event('monitor.recovered', troubles(recovered))]),
  ];
}

const countsOf = (kinds: readonly ChangeKind[]) =>
  Object.fromEntries(
    CHANGE_KINDS.flatMap((kind) => {
      const count = kinds.filter((each) => each === kind).length;
      return count === 0 ? [] : [[kind, count]];
    }),
  );

const cut = (text: string, most: number) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const plain = (text: string) => text.replace(/\s+/g, ' ').trim();

interface ToldChange {
  readonly kind: ChangeKind;
  readonly url: string;
  readonly fromUrl: string | null;
  readonly title: string | null;
  /** How the page differs from before; null for pages that are new or gone. */
  readonly comparison: PageComparison | null;
}

function changeSentence({ kind, url, fromUrl, title, comparison }: ToldChange): string {
  const page = title === null || title === '' ? url : plain(title);
  if (kind === 'ADDED') return cut(`New page: ${page}`, MOST_SENTENCE_CHARS);
  if (kind === 'REMOVED') return cut(`The page is gone: ${page}`, MOST_SENTENCE_CHARS);
  if (kind === 'MOVED')
    return cut(`Moved from ${fromUrl ?? 'another address'}: ${page}`, MOST_SENTENCE_CHARS);
  const what = comparison === null ? '' : excerptOf(comparison);
  return cut(
    `${kind === 'REVERTED' ? 'Changed back: ' : ''}${what || 'The page has changed'}`,
    MOST_SENTENCE_CHARS,
  );
}

function excerptOf({ fields, texts }: PageComparison): string {
  const told = fields.slice(0, MOST_FIELDS).map(fieldSentence);
  if (told.length > 0) return told.join('; ');
  const [first] = texts;
  return first === undefined ? '' : segmentSentence(first.diff.segments);
}

function fieldSentence({ field, kind, before, after, difference, share }: FieldChange): string {
  if (kind === 'added') return `${field}: ${shown(after)}`;
  if (kind === 'removed') return `${field}: no longer ${shown(before)}`;
  const change =
    difference === undefined || share === undefined || typeof before !== 'number' || before === 0
      ? ''
      : ` (${difference > 0 ? '+' : '−'}${describeShare(Math.abs(difference / before))})`;
  return `${field}: ${shown(before)} → ${shown(after)}${change}`;
}

const shown = (value: unknown): string =>
  cut(plain(typeof value === 'string' ? value : (JSON.stringify(value) ?? '')), MOST_VALUE_CHARS);

/** Describes the first place that differs, with the text before and after. */
function segmentSentence(segments: readonly TextSegment[]): string {
  const at = segments.findIndex(({ kind }) => kind === 'removed' || kind === 'added');
  const few = segments.slice(at, at + 2);
  const textOf = (kind: TextSegment['kind']) => {
    const text = plain(few.find((segment) => segment.kind === kind)?.text ?? '');
    return text === '' ? null : `“${cut(text, MOST_VALUE_CHARS)}”`;
  };
  const [removed, added] = [textOf('removed'), textOf('added')];
  if (removed !== null && added !== null) return `${removed} → ${added}`;
  if (added !== null) return `New: ${added}`;
  return removed === null ? '' : `Removed: ${removed}`;
}

/** The comparison with no more than so many characters of what changed; `isTruncated` says where some are missing. */
function boundedComparison(
  { texts, fields }: PageComparison,
  chars: number,
): { readonly texts: unknown[]; readonly fields: unknown[]; readonly isTruncated: boolean } {
  let left = chars;
  let isTruncated = false;
  const take = (text: string): string => {
    const taken = text.slice(0, Math.max(0, left));
    left -= text.length;
    isTruncated ||= taken.length < text.length;
    return taken;
  };
  const shownFields = fields.flatMap(({ patch: _patch, ...change }) => {
    const size = JSON.stringify(change).length;
    if (size > left) {
      isTruncated = true;
      return [];
    }
    left -= size;
    return [change];
  });
  const shownTexts = texts.flatMap(({ name, diff }) => {
    if (left <= 0) {
      isTruncated = true;
      return [];
    }
    const segments = diff.segments.flatMap((segment) => {
      const text = take(segment.text);
      return text === '' && segment.kind !== 'skipped' ? [] : [{ ...segment, text }];
    });
    isTruncated ||= diff.isTruncated;
    return [{ name, ...diff, segments }];
  });
  return { texts: shownTexts, fields: shownFields, isTruncated };
}
