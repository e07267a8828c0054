import { setTimeout as delay } from 'node:timers/promises';
import { structuredPatch } from 'diff';
import type { PageResult } from '../../../../capabilities/jobs/results/page-result.ts';
import type { PageContents } from '../../../../capabilities/snapshots/page-contents.ts';
import { historyUrlOf, isRealPage } from '../../../../capabilities/snapshots/snapshot-key.ts';
import type { ContentHash } from '../../../../core/model/ids.ts';
import type { Job } from '../../../../core/model/job.ts';
import type { Store } from '../../../../core/ports/store.ts';
import { defined } from '../../../../lib/defined.ts';
import type { StoredView } from './document.ts';

export interface TrackingParts {
  readonly store: Pick<Store, 'listSightings' | 'getSnapshot'>;
  readonly contents: Pick<PageContents, 'ofSnapshot'>;
  readonly now: () => number;
  /** Whether the reader may see pages that stored credentials give access to. */
  readonly hasPrivate: boolean;
}

const LOOKED_AT = 50;
/** How long after its fetch a page is waited for in the history, which is written behind the crawl. */
const MOST_WAIT_MS = 10_000;
const PAUSE_MS = 50;
/** Texts that differ in more lines than this are reported as one replaced by the other, so that no request blocks. */
const MOST_EDITS = 2_000;
const GONE: ReadonlySet<number> = new Set([404, 410]);

/** What changed since the account last scraped the page with `changeTracking`; null where that was not asked for. */
export async function changeTrackingOf(
  page: PageResult,
  job: Pick<Job, 'id' | 'accountId' | 'options'>,
  { formats }: StoredView,
  { store, contents, now, hasPrivate }: TrackingParts,
): Promise<object | null> {
  const asked = formats.find(({ type }) => type === 'changeTracking');
  const history = asked === undefined ? null : historyUrlOf(page.url, job.options.scope.keepFragment);
  if (asked === undefined || history === null) return null;
  const sightings = () =>
    store.listSightings({
      accountId: job.accountId,
      urlKey: history.urlKey,
      hasPrivate,
      limit: LOOKED_AT,
    });
  const fetchedAt = Date.parse(page.fetchedAt);
  let { items } = await sightings();
  // The history is written in order: with this page in it, all earlier ones are there, and the next scrape sees this one.
  while (
    hasHistory(page, job) &&
    now() < fetchedAt + MOST_WAIT_MS &&
    !items.some(({ jobId }) => jobId === job.id)
  ) {
    await delay(PAUSE_MS);
    ({ items } = await sightings());
  }
  const last = items.find(({ jobId, seenAt }) => jobId !== job.id && seenAt <= fetchedAt);
  const snapshot = last === undefined ? null : await store.getSnapshot(job.accountId, last.snapshotId);
  if (last === undefined || snapshot === null) {
    return { previousScrapeAt: null, changeStatus: 'new', visibility: 'visible' };
  }
  const { parts } = job.options.page;
  const wanted = { formats: ['markdown' as const], extract: null, ...defined({ parts }) };
  const before = (await contents.ofSnapshot(snapshot).read(wanted))?.markdown ?? '';
  const after = page.markdown ?? '';
  const isGone = page.statusCode !== null && GONE.has(page.statusCode);
  const changeStatus = isGone ? 'removed' : before === after ? 'same' : 'changed';
  const modes = asked.modes as readonly string[];
  return {
    previousScrapeAt: new Date(last.seenAt).toISOString(),
    changeStatus,
    visibility: 'visible',
    ...(changeStatus === 'changed' && modes.includes('git-diff') ? { diff: diffOf(before, after) } : {}),
  };
}

/** Whether the page is, or will be, in the history of its URL. */
const hasHistory = (
  { error, outcome = null, statusCode, contentHash }: PageResult,
  { options }: Pick<Job, 'options'>,
): boolean =>
  options.snapshots === true &&
  isRealPage({
    errorCode: error?.code ?? null,
    outcome,
    statusCode,
    contentHash: contentHash as ContentHash | null,
  });

interface Line {
  readonly type: 'normal' | 'add' | 'del';
  readonly content: string;
}

/** A difference as a unified diff, and as the objects that readers of such diffs make of it. */
function diffOf(before: string, after: string) {
  const hunks =
    structuredPatch('previous', 'current', before, after, '', '', { maxEditLength: MOST_EDITS })?.hunks ??
    wholeHunk(before, after);
  const chunks = hunks.map(({ oldStart, oldLines, newStart, newLines, lines }) => ({
    content: `@@ -${oldStart},${oldLines} +${newStart},${newLines} @@`,
    oldStart,
    oldLines,
    newStart,
    newLines,
    changes: lines.map(lineOf),
  }));
  const lines = chunks.flatMap(({ content, changes }) => [content, ...changes.map((each) => each.content)]);
  const count = (type: Line['type']) =>
    chunks.flatMap(({ changes }) => changes).filter((each) => each.type === type).length;
  return {
    text: ['--- previous', '+++ current', ...lines, ''].join('\n'),
    json: {
      files: [{ from: 'previous', to: 'current', additions: count('add'), deletions: count('del'), chunks }],
    },
  };
}

const lineOf = (content: string): Line => ({
  type: content.startsWith('+') ? 'add' : content.startsWith('-') ? 'del' : 'normal',
  content,
});

function wholeHunk(before: string, after: string) {
  const [old, fresh] = [before.split('\n'), after.split('\n')];
  const lines = [...old.map((line) => `-${line}`), ...fresh.map((line) => `+${line}`)];
  return [{ oldStart: 1, oldLines: old.length, newStart: 1, newLines: fresh.length, lines }];
}
