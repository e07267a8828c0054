/** What Redis holds of a call beside its job. Both sides know these names. */
export interface CallKeys {
  /**
   * How the call stands; lives no longer than the call.
   *
   * `asked`      somebody waits for the answer
   * `answered`   the answer is in the list
   * `cancelled`  nobody waits any more
   * no key       the time is over, or Redis was emptied: the caller knows which, and asks again
   */
  state(id: string): string;
  /** The list in which the answers to one process arrive. */
  answers(caller: string): string;
}

export function callKeys(prefix: string): CallKeys {
  return {
    state: (id) => `${prefix}:call:${id}`,
    answers: (caller) => `${prefix}:answers:${caller}`,
  };
}

/** How long the last word on a call is kept for those who come late. */
export const AFTERLIFE_MS = 30_000;

/** What the job of a call carries. */
export interface CallJob {
  readonly id: string;
  readonly caller: string;
  /** JSON, as it came. */
  readonly request: string;
  readonly timeoutMs: number;
}

export function callJobOf(data: unknown): CallJob | null {
  const { id, caller, request, timeoutMs } = (data ?? {}) as { [K in keyof CallJob]?: unknown };
  return typeof id === 'string' &&
    typeof caller === 'string' &&
    typeof request === 'string' &&
    typeof timeoutMs === 'number'
    ? { id, caller, request, timeoutMs }
    : null;
}
