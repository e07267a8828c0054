import { ruleSentence } from '../../capabilities/jobs/rule-words.ts';
import { whyOf } from '../../capabilities/jobs/why.ts';
import type { Job } from '../../core/model/job.ts';
import type { Page } from '../../core/model/page.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import type { Store } from '../../core/ports/store.ts';
import { describeCount } from '../../lib/human-units.ts';
import { screenOf } from '../output/screen.ts';
import { storyOf } from '../output/story.ts';
import type { Shell } from '../shell/shell.ts';

/** Tells of every page of a crawl how it came about, as `why` does, and of other URLs why they were not fetched. */
export interface CrawlTrace {
  add(pages: readonly Page[]): void;
  /** Resolves when everything that was added is written. */
  settle(): Promise<void>;
  /** Writes what became of the URLs that have no page, by the rule that decided. */
  finish(store: Store, job: Job): Promise<void>;
}

const LEDGER_STEP = 1_000;

export function createTrace(shell: Shell, store: Store, job: Job): CrawlTrace {
  const screen = screenOf(shell, 'stderr');
  const write = (heading: string, sentences: readonly string[]): void =>
    void shell.stderr.write(storyOf(screen, [heading], sentences));
  let writing = Promise.resolve();

  async function tell(pages: readonly Page[]): Promise<void> {
    for (const { url } of pages) {
      const { state, sentences } = await whyOf(store, job, url);
      write(`${url}: ${state}`, sentences);
    }
  }
  return {
    add(pages) {
      // A store that closes while pages are under way ends the trace; the pages themselves are in the files.
      writing = writing.then(() => tell(pages)).catch(() => undefined);
    },
    settle: () => writing,
    async finish(last, ended) {
      const groups = await unfetched(last, ended);
      if (groups.length === 0) return;
      write(
        'URLs that were not fetched:',
        groups.map(({ count, state, first }) => {
          const why = ruleSentence(first.rule, first, ended) ?? '';
          const named =
            count === 1
              ? `${first.url} was ${state}.`
              : `${describeCount(count, 'URL')} were ${state}, such as ${first.url}.`;
          return `${named} ${why} [${first.rule ?? state}]`;
        }),
      );
    },
  };
}

interface Unfetched {
  readonly state: LedgerEntry['state'];
  readonly first: LedgerEntry;
  count: number;
}

/** URLs without a page, together where the same kind of rule decided, the most frequent first. */
async function unfetched(store: Store, { id }: Job): Promise<readonly Unfetched[]> {
  const groups = new Map<string, Unfetched>();
  for (const state of ['denied', 'skipped'] as const) {
    let cursor: string | undefined;
    do {
      const { items, nextCursor } = await store.listTasks({ jobId: id, state, cursor, limit: LEDGER_STEP });
      for (const entry of items) {
        const kind = `${state} ${entry.rule?.split(':', 1)[0] ?? ''}`;
        const group = groups.get(kind);
        if (group === undefined) groups.set(kind, { state, first: entry, count: 1 });
        else group.count += 1;
      }
      cursor = nextCursor ?? undefined;
    } while (cursor !== undefined);
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
