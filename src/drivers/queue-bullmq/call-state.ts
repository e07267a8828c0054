/** The Redis keys of a call besides its job. Callers and workers share these names. */
export interface CallKeys {
  /**
   * How the call stands; lives no longer than the call.
   *
   * `asked`      the caller waits for the answer
   * `answered`   the answer is in the list
   * `cancelled`  the caller no longer waits
   * no key       the time is over, or Redis was emptied: the caller knows which, and asks again
   */
  state(id: string): string;
  /** The list in which answers to one process arrive, and questions about what it asks. */
  answers(caller: string): string;
  /** Exists while the calling process is alive. */
  beat(caller: string): string;
  /** What it replied to a question. */
  reply(id: string, questionId: string): string;
  /** The channel on which a worker is told that a question of its was replied to. A message is the id of the question. */
  announcements(answerer: string): string;
}

export function callKeys(prefix: string): CallKeys {
  return {
    state: (id) => `${prefix}:call:${id}`,
    answers: (caller) => `${prefix}:answers:${caller}`,
    beat: (caller) => `${prefix}:caller:${caller}`,
    reply: (id, questionId) => `${prefix}:reply:${id}:${questionId}`,
    announcements: (answerer) => `${prefix}:replies:${answerer}`,
  };
}

/** How long the final state of a call is kept for late readers. */
export const AFTERLIFE_MS = 30_000;

/** What the job of a call carries. */
export interface CallJob {
  readonly id: string;
  readonly caller: string;
  /** JSON, as it came. */
  readonly request: string;
  readonly timeoutMs: number;
  /** The caller beats. One of an older version does not, and is taken to be alive until the time is over. */
  readonly isBeating: boolean;
  /** The caller takes questions. */
  readonly isAskable: boolean;
  /** Redis lost the call and the caller asks again: a worker may have begun it before. */
  readonly isRepeated: boolean;
}

export function callJobOf(data: unknown): CallJob | null {
  const { id, caller, request, timeoutMs, isBeating, isAskable, isRepeated } = (data ?? {}) as {
    [K in keyof CallJob]?: unknown;
  };
  return typeof id === 'string' &&
    typeof caller === 'string' &&
    typeof request === 'string' &&
    typeof timeoutMs === 'number'
    ? {
        ...{ id, caller, request, timeoutMs },
        isBeating: isBeating === true,
        isAskable: isAskable === true,
        isRepeated: isRepeated === true,
      }
    : null;
}
