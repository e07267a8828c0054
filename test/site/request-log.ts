import type { IncomingHttpHeaders } from 'node:http';

/** off: nothing is kept. counts: requests per URL. full: every request, besides the counts. */
export type LogMode = 'off' | 'counts' | 'full';

export interface LogEntry {
  /** Counts from 0 since the last reset; what `since` refers to. */
  readonly seq: number;
  /** Epoch time of arrival in milliseconds, with fractions. */
  readonly at: number;
  /**
   * The request cannot have arrived earlier. A process that waits for its processor notes a request late; between
   * `notBefore` and `at` the site was not looking.
   */
  readonly notBefore: number;
  /** The Host header as it was sent. */
  readonly host: string;
  /** Path and query of the request. */
  readonly path: string;
  readonly method: string;
  readonly headers: IncomingHttpHeaders;
  /** Requests of this host that were under way when this one arrived, itself included. */
  readonly inFlight: number;
  /** Port of the client; 0 when it is not known. */
  readonly remotePort: number;
  /** When it was answered or given up; null while it is under way. */
  readonly endedAt: number | null;
  /** Null while there is no answer. */
  readonly status: number | null;
}

/**
 * What the site received. Memory is bounded: beyond `limit` the oldest entries are dropped, and URLs that would be
 * new are only counted together. Requests to the control pages (`/__…`) do not appear.
 */
export interface RequestLog {
  /** Takes one request; the function returned says that it is over, when, and with which status if any. */
  record(
    at: number,
    host: string,
    path: string,
    method: string,
    headers: IncomingHttpHeaders,
    remotePort?: number,
    notBefore?: number,
  ): RequestEnd;
  entries(since?: number): readonly LogEntry[];
  /** Entries dropped because there were more than the limit. */
  dropped(): number;
  total(): number;
  countOf(host: string, path: string): number;
  counts(): Counts;
  reset(): void;
}

export interface Counts {
  readonly total: number;
  /** Requests to URLs that came after the limit of distinct URLs. */
  readonly uncounted: number;
  /** Number of requests for each URL, by `http://host/path?query`. */
  readonly urls: Readonly<Record<string, number>>;
}

export type RequestEnd = (endedAt?: number, status?: number | null) => void;

const nothing = (): void => {};

export function createRequestLog(mode: LogMode, limit: number): RequestLog {
  let entries: LogEntry[] = [];
  let seq = 0;
  let total = 0;
  let uncounted = 0;
  const urls = new Map<string, number>();
  const inFlight = new Map<string, number>();

  const countUrl = (host: string, path: string): void => {
    const url = host + path;
    const before = urls.get(url);
    if (before === undefined && urls.size >= limit) uncounted++;
    else urls.set(url, (before ?? 0) + 1);
  };

  return {
    record(at, host, path, method, headers, remotePort = 0, notBefore = at) {
      if (mode === 'off') return nothing;
      total++;
      countUrl(host, path);
      if (mode === 'counts') return nothing;
      const running = (inFlight.get(host) ?? 0) + 1;
      inFlight.set(host, running);
      const entry = {
        ...{ seq: seq++, at, notBefore, host, path, method, headers, inFlight: running, remotePort },
        endedAt: null as number | null,
        status: null as number | null,
      };
      entries.push(entry);
      // Cut in large pieces: shifting one entry per request would cost as much as the request.
      if (entries.length > limit * 2) entries = entries.slice(-limit);
      return (endedAt = at, status = null) => {
        entry.endedAt = endedAt;
        entry.status = status;
        const left = (inFlight.get(host) ?? 1) - 1;
        if (left > 0) inFlight.set(host, left);
        else inFlight.delete(host);
      };
    },
    entries(since = 0) {
      const kept = entries.length > limit ? entries.slice(-limit) : entries;
      const first = kept[0]?.seq ?? 0;
      return since > first ? kept.slice(since - first) : kept.slice();
    },
    dropped: () => Math.max(0, seq - limit),
    total: () => total,
    countOf: (host, path) => urls.get(host + path) ?? 0,
    counts() {
      const byUrl: Record<string, number> = {};
      for (const [url, count] of urls) byUrl[`http://${url}`] = count;
      return { total, uncounted, urls: byUrl };
    },
    reset() {
      entries = [];
      seq = 0;
      total = 0;
      uncounted = 0;
      urls.clear();
    },
  };
}
