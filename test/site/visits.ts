/** How often each URL was asked for, for pages that change with it. Bounded: the URL counted first is forgotten first. */
export interface Visits {
  /** Counts and returns how often it was counted before. */
  count(url: string): number;
  reset(): void;
}

const MOST_URLS = 100_000;

export function createVisits(): Visits {
  const visits = new Map<string, number>();
  return {
    count(url) {
      const before = visits.get(url) ?? 0;
      if (before === 0 && visits.size >= MOST_URLS) {
        const oldest = visits.keys().next();
        if (!oldest.done) visits.delete(oldest.value);
      }
      visits.set(url, before + 1);
      return before;
    },
    reset: () => visits.clear(),
  };
}
