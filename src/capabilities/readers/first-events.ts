import type { PagesEventData, StoredEvent } from '../../core/ports/event-store.ts';

/** Pages of one step of a reader: more would hold up the store, or take much memory, in one transaction. */
const MOST_PAGES = 1_000;

/** The first events, one at least, as far as they tell of so many pages that one step can take them. */
export function firstEvents(events: readonly StoredEvent[]): readonly StoredEvent[] {
  let pages = 0;
  const end = events.findIndex(({ type, data }) => {
    if (type === 'pages.committed') pages += (data as unknown as PagesEventData).pages.length;
    return pages > MOST_PAGES;
  });
  return end === -1 ? events : events.slice(0, Math.max(1, end));
}
