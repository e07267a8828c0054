/**
 * What a run leaves behind and the checker reads, one file each. Times are epoch milliseconds of the one machine on
 * which everything ran.
 */
export interface History {
  /** `expected.json`: what the run was to do. */
  readonly expected: Expected;
  /** `jobs.ndjson`: every crawl and batch that was accepted, with what had to come of it. */
  readonly jobs: readonly JobRecord[];
  /** `urls.ndjson`: the ledgers of these jobs. */
  readonly urls: readonly UrlRecord[];
  /** `results.ndjson`: what the jobs brought. */
  readonly results: readonly ResultRecord[];
  /** `stored.ndjson`: ids of all jobs that the store had in the end, before they were deleted. */
  readonly stored: readonly string[];
  /** `calls.ndjson`: what clients asked for and were answered, in order of the answers. */
  readonly calls: readonly CallRecord[];
  /** `requests.ndjson`: the web server's own log, in order of arrival. */
  readonly requests: readonly RequestRecord[];
  /** `actions.ndjson`: what was done to the fleet. */
  readonly actions: readonly ActionRecord[];
  /** `exits.ndjson`: how processes of the fleet ended. */
  readonly exits: readonly ExitRecord[];
  /** `memory.ndjson`: memory of the processes over time. */
  readonly memory: readonly MemoryRecord[];
  /** `leftovers.ndjson`: what was still there when every job had been deleted; nothing when all is well. */
  readonly leftovers: readonly LeftoverRecord[];
  /** `tenants.ndjson`: accounts beside the operator's, as the API showed them when everything had ended. */
  readonly tenants: readonly TenantRecord[];
  /** `refusals.ndjson`: tries of clients that got no answer of use; each was tried again. */
  readonly refusals: readonly RefusalRecord[];
  /** `received.ndjson`: what the receiver of their webhooks got, in order of arrival. */
  readonly received: readonly ReceivedRecord[];
}

export interface Expected {
  /** What every host was promised. */
  readonly ratePerSecond: number;
  readonly connections: number;
  /**
   * Hosts whose pages never end. A request of an owner that hangs is then under way when the next owner begins, which
   * nothing can prevent: who owns these hosts is not judged.
   */
  readonly endlessHosts: readonly string[];
  /** When the first job was accepted; the times in reports count from here. */
  readonly startedAt: number;
  readonly leastFaults: number;
  readonly leastKinds: number;
  /**
   * Whether nothing was done but to stop and start processes, as they are upgraded. Then clients are owed more: no request
   * fails but by an honest refusal, and no page is fetched twice.
   */
  readonly isGentle: boolean;
  /** What the run itself could not do: a question that was never answered, a fault that could not be made good. */
  readonly troubles: readonly string[];
}

/** What must become of a URL: done with this body, done with this title, or ended in one of these errors (or done). */
export interface Wanted {
  readonly hash?: string;
  readonly title?: string;
  readonly codes?: readonly string[];
}

export interface JobRecord {
  /** Such as `crawl-3`; also its Idempotency-Key. */
  readonly name: string;
  readonly sort: 'crawl' | 'batch' | 'render' | 'retry' | 'hostile';
  /** Under which it was known last. */
  readonly id: string;
  /** Paths that begin so belong to this job and to no other; null when others ask for the same pages. */
  readonly ownPath: string | null;
  readonly wanted: Readonly<Record<string, Wanted>>;
  /** Whether the ledger may have URLs beside the wanted ones. */
  readonly isOpenEnded: boolean;
  /** Null: it was gone when it was looked for. */
  readonly last: JobView | null;
}

export interface JobView {
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

export interface CallRecord {
  readonly at: number;
  readonly endedAt: number;
  /** Name of the job, or the Idempotency-Key of a scrape. */
  readonly job: string;
  /** `quiet`: a cancelled job was seen to have ended. `gone`: a look at it was answered 404. */
  readonly what: 'accept' | 'scrape' | 'cancel' | 'quiet' | 'resume' | 'retry' | 'delete' | 'gone' | 'end';
  readonly status: number;
  /** What must be the same whenever the same is asked under the same key; null where that has no meaning. */
  readonly answer: string | null;
}

export interface RefusalRecord {
  readonly at: number;
  /** Method and path of the request. */
  readonly what: string;
  /** Null: the connection failed, or the time was over. */
  readonly status: number | null;
  readonly told: string;
  /** Value of the header `Retry-After`. */
  readonly retryAfter: string | null;
}

export interface RequestRecord {
  readonly at: number;
  /** Null: still under way when the log was read. */
  readonly endedAt: number | null;
  /** Name of the host with its port. */
  readonly host: string;
  readonly path: string;
  readonly status: number | null;
  /** Which process sent it, by its user agent. */
  readonly worker: string;
  readonly remotePort: number;
  /** Requests of this host under way at its arrival, itself included. */
  readonly inFlight: number;
}

export interface ActionRecord {
  readonly kind: string;
  /** `http-worker-2`, `api-1`, `scheduler-1`, `browser-worker-1`, `fleet`, `redis`, `postgres`, `s3`, `site`. */
  readonly target: string;
  readonly from: number;
  /** When the target was as before. */
  readonly until: number;
  /** Whether the store has forgotten what was committed between `from` and `until`. */
  readonly forgets?: true;
}

export interface ExitRecord {
  readonly process: string;
  readonly at: number;
  readonly startedAt: number;
  readonly code: number | null;
  readonly signal: string | null;
  readonly asked: 'stop' | 'kill' | null;
}

export interface MemoryRecord {
  readonly process: string;
  readonly at: number;
  readonly rssBytes: number;
}

export interface LeftoverRecord {
  /** `postgres`, `redis` or `s3`. */
  readonly place: string;
  /** Table, kind of key, or prefix. */
  readonly what: string;
  readonly count: number;
  readonly examples: readonly string[];
}

export interface UrlRecord {
  /** Name of the job. */
  readonly job: string;
  readonly url: string;
  readonly state: string;
  readonly rule: string | null;
  readonly errorCode: string | null;
  readonly discoveredAt: number;
  readonly finishedAt: number | null;
  readonly attempts: readonly { readonly outcome: string; readonly at: number; readonly bytes: number }[];
}

export interface ResultRecord {
  readonly job: string;
  readonly url: string;
  readonly statusCode: number | null;
  readonly title: string | null;
  /** As the result says. */
  readonly contentHash: string | null;
  /** SHA-256 of the body that was read for it; null when there was none to read. */
  readonly bodyHash: string | null;
  readonly bytes: number;
}

export interface TenantRecord {
  readonly id: string;
  readonly webhookId: string;
  readonly scheduleId: string;
  /** Between two ticks of its schedule. */
  readonly everyMs: number;
  readonly credits: {
    readonly allowanceCredits: number;
    readonly balanceCredits: number;
    readonly heldCredits: number;
  } | null;
  /** The sum of its entries, and of its usage, in credits. */
  readonly granted: number;
  readonly used: number;
  readonly jobs: readonly {
    readonly id: string;
    readonly status: string;
    readonly finishedAt: number | null;
  }[];
  readonly deliveries: readonly DeliveryRecord[];
  /** The history of its schedule. */
  readonly runs: readonly {
    readonly at: string;
    readonly trigger: string;
    readonly status: string;
    readonly missed: { readonly lastAt: string } | null;
  }[];
  /** How it was answered when it asked for what belongs to others. */
  readonly foreign: readonly { readonly path: string; readonly status: number }[];
}

export interface DeliveryRecord {
  readonly id: string;
  readonly eventId: string;
  readonly event: string;
  readonly jobId: string | null;
  readonly state: string;
  readonly endedAt: number | null;
}

export interface ReceivedRecord {
  readonly at: number;
  /** The account whose webhook it was sent to. */
  readonly account: string;
  readonly eventId: string;
  readonly event: string;
  readonly jobId: string | null;
  /** Null: the connection was cut off. */
  readonly status: number | null;
}
