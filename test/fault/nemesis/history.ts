/**
 * What a run leaves behind and the checker reads, one file each. Times are epoch milliseconds of the one machine on
 * which everything ran.
 */
export interface History {
  /** `expected.json` */
  readonly expected: Expected;
  /** `job.json` */
  readonly job: JobRecord;
  /** `requests.ndjson`: the web server's own log, in order of arrival. */
  readonly requests: readonly RequestRecord[];
  /** `actions.ndjson`: what was done to the fleet. */
  readonly actions: readonly ActionRecord[];
  /** `urls.ndjson`: the ledger. */
  readonly urls: readonly UrlRecord[];
  /** `results.ndjson` */
  readonly results: readonly ResultRecord[];
}

export interface Expected {
  /** What every host was promised. */
  readonly ratePerSecond: number;
  readonly connections: number;
  /** SHA-256 of every page of the web, by URL. */
  readonly pages: Readonly<Record<string, string>>;
}

export interface JobRecord {
  readonly status: string;
  readonly stopReason: string | null;
  readonly createdAt: number;
  /** Null: it had not ended when the time was over. */
  readonly finishedAt: number | null;
  readonly counters: Readonly<Record<Counter, number>>;
}

export const COUNTERS = [
  'known',
  'open',
  'pages',
  'done',
  'failed',
  'skipped',
  'denied',
  'cancelled',
  'bytes',
] as const;
export type Counter = (typeof COUNTERS)[number];

export interface RequestRecord {
  readonly at: number;
  /** Null: still under way when the log was read. */
  readonly endedAt: number | null;
  /** With the port. */
  readonly host: string;
  readonly path: string;
  readonly status: number | null;
  /** Which process sent it, by its user agent. */
  readonly worker: string;
  readonly remotePort: number;
  /** Requests of this host under way at its arrival, itself included. */
  readonly inFlight: number;
}

export type ActionKind = 'kill' | 'pause' | 'restart' | 'crash' | 'drop connections' | 'flush' | 'down';

export interface ActionRecord {
  readonly kind: ActionKind;
  /** `http-worker-2`, `api-1`, `scheduler-1`, `redis`, `postgres`, `s3`. */
  readonly target: string;
  readonly from: number;
  /** When the target was as before. */
  readonly until: number;
}

export interface UrlRecord {
  readonly url: string;
  readonly state: string;
  readonly rule: string | null;
  readonly errorCode: string | null;
  readonly discoveredAt: number;
  readonly finishedAt: number | null;
  readonly attempts: readonly { readonly outcome: string; readonly at: number; readonly bytes: number }[];
}

export interface ResultRecord {
  readonly url: string;
  readonly statusCode: number | null;
  /** As the result says. */
  readonly contentHash: string | null;
  /** SHA-256 of the body that was read for it; null when there was none to read. */
  readonly bodyHash: string | null;
  readonly bytes: number;
}
