import type { Attempt } from '../../core/model/attempt.ts';
import type { NewPage } from '../../core/model/page.ts';
import type { Completion } from '../../core/ports/store.ts';

const REASON = 'The store cannot keep what this page brought; the log has its reason.';

/**
 * The replacement for a completion whose content the store refuses: the task ends with UNSTORABLE. Every text
 * in it is either our own or was read from the store before, and every number is in range, so that the store can have
 * no objection to its content.
 */
export function refusedCompletion(completion: Completion): Completion {
  const { lease, taskId, jobSeq, trace, bytes, page } = completion;
  const last = trace.at(-1);
  const attempt = last === undefined ? null : refusedAttempt(last);
  return {
    lease,
    taskId,
    jobSeq,
    end: { state: 'failed', rule: 'store.refused', errorCode: 'UNSTORABLE' },
    trace: attempt === null ? [] : [...trace.slice(0, -1), attempt],
    ...(attempt === null ? {} : { used: attempt }),
    bytes: count(bytes),
    page: page === null ? null : refusedPage(page),
    discovered: [],
  };
}

/** The earlier attempts came from the store; the last one is as new as the rest of the completion. */
function refusedAttempt({ engine, statusCode, ms, bytes, at }: Attempt): Attempt {
  return {
    engine,
    proxyTier: null,
    reason: 'store.refused',
    outcome: 'error',
    evidence: REASON,
    errorCode: 'UNSTORABLE',
    statusCode: status(statusCode),
    ms: count(ms),
    bytes: count(bytes),
    at,
  };
}

function refusedPage({ url, statusCode, fetchedAt, depth }: NewPage): NewPage {
  return {
    url,
    finalUrl: url,
    statusCode: status(statusCode),
    contentType: null,
    charset: null,
    fetchedAt: count(fetchedAt),
    depth: count(depth),
    contentHash: null,
    textHash: null,
    bytes: 0,
    title: null,
    etag: null,
    lastModified: null,
    duplicateOf: null,
    errorCode: 'UNSTORABLE',
    errorMessage: REASON,
    record: null,
  };
}

const count = (value: number): number => (Number.isSafeInteger(value) && value > 0 ? value : 0);
const status = (value: number | null): number | null =>
  value !== null && Number.isInteger(value) && value > 0 && value < 1_000 ? value : null;
