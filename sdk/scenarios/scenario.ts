/**
 * The form of scenarios.json, which the runners of all languages read. A runner makes the calls of each scenario with its
 * client and prints one JSON line for each: `{"name", "ok", "message"}`.
 */
export interface Scenario {
  readonly name: string;
  /** What the proxy does with the next requests; see fault-proxy.ts. */
  readonly faults?: readonly string[];
  readonly steps: readonly Step[];
}

/**
 * One call. In every text `{site}` stands for the address of the test site and `{name.field}` for a field of a saved
 * answer.
 */
export interface Step {
  /** Such as `scrape`, `jobs.wait`, `webhooks.create`, `verifyWebhook`. */
  readonly call: string;
  /** The first argument of calls about one thing: the id of a job, a schedule, a webhook. */
  readonly id?: string;
  /** Of `jobs.why` and `snapshots.list`. */
  readonly url?: string;
  /** Of `jobs.diff`: the earlier job. */
  readonly against?: string;
  /** Of `search`: the words. */
  readonly text?: string;
  readonly request?: Readonly<Record<string, unknown>>;
  readonly query?: Readonly<Record<string, string | number>>;
  readonly idempotencyKey?: string;
  /** Sets `faults` before this step. */
  readonly faults?: readonly string[];
  readonly save?: string;
  /** What the answer must have, see `match` in match.ts. Iterators are read to their end and count as lists. */
  readonly expect?: unknown;
  /** The call is repeated until its answer is as expected: for what a server does in the background. */
  readonly isEventual?: boolean;
  /** The error that the call must end with: `{code, status}`. */
  readonly error?: Readonly<Record<string, unknown>>;
}
