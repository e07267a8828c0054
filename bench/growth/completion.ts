import type { NewPage } from '../../src/core/model/page.ts';
import type { NewTask, Task } from '../../src/core/model/task.ts';
import type { HostLease } from '../../src/core/ports/host-store.ts';
import type { Completion } from '../../src/core/ports/ledger-store.ts';
import { randomFrom } from '../../test/site/random.ts';

function randomBytes(length: number): Uint8Array {
  const random = randomFrom(length);
  return Uint8Array.from({ length }, () => Math.floor(random() * 256));
}

const record = randomBytes(1_500);

const pageOf = (url: string, fetchedAt: number): NewPage => ({
  url,
  finalUrl: url,
  statusCode: 200,
  contentType: 'text/html; charset=utf-8',
  charset: 'utf-8',
  fetchedAt,
  depth: 1,
  contentHash: null,
  textHash: '0123456789abcdef0123456789abcdef',
  bytes: 21_000,
  title: 'Some words of a title',
  etag: null,
  lastModified: null,
  duplicateOf: null,
  errorCode: null,
  errorMessage: null,
  record,
});

/** What a worker hands to the ledger for a page of 21 KB with metadata and links. */
export const completionOf = (
  lease: HostLease,
  task: Task,
  fetchedAt: number,
  discovered: readonly NewTask[],
): Completion => ({
  lease,
  taskId: task.id,
  jobSeq: task.jobSeq,
  end: { state: 'done', rule: null },
  trace: [
    {
      engine: 'http',
      proxyTier: null,
      reason: 'plan.cheapest',
      outcome: 'ok',
      statusCode: 200,
      ms: 12,
      bytes: 21_000,
      at: '2027-01-15T08:00:00.000Z',
    },
  ],
  bytes: 21_000,
  page: pageOf(task.url, fetchedAt),
  discovered,
});
