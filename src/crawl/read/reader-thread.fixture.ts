import { parentPort, threadId, workerData } from 'node:worker_threads';
import { WITHOUT_CONTENT } from '../../core/model/page.ts';
import type { HeapReport, ReadAnswer, ReadCall, ThreadData } from './thread-messages.ts';

/** A thread that does what the body of each page tells it to. */
const { given, reading } = workerData as ThreadData<string | null>;
if (given === 'broken') throw new Error('cannot start');
const port = parentPort;

// What `node --watch` has each thread report.
if (given === 'watched') port?.postMessage({ 'watch:import': ['file:///module.ts'] });
port?.postMessage([]);
port?.on('message', (calls: readonly ReadCall[]) => calls.forEach(obey));

/** Pages that this thread has read. */
let read = 0;

function obey({ id, request, unread }: ReadCall): void {
  const order = new TextDecoder().decode(request.response.body).trimEnd();
  const answer = (answered: ReadAnswer) => {
    Atomics.store(reading, 0, 0);
    read += 1;
    port?.postMessage([answered]);
  };
  Atomics.store(reading, 0, id);
  if (order === 'throw always') throw new Error('a fault of the reader');
  if (unread === undefined) {
    if (order === 'hang') for (;;);
    if (order === 'throw') throw new Error('a fault of the reader');
    if (order === 'throw unless first' && read > 0) throw new Error('a fault of the reader');
    if (order === 'exit') process.exit(3);
    if (order === 'fill the heap')
      for (const kept: string[] = []; ; ) kept.push(`${kept.length}`.repeat(1_000));
  }
  if (order === 'heap' && read > 0) {
    Atomics.store(reading, 0, 0);
    port?.postMessage({ heap: { usedBytes: 400, limitBytes: 500 } } satisfies HeapReport);
    return;
  }
  if (order === 'wait') return;
  if (order === 'full') answer({ id, code: 'DISK_FULL', message: 'no space' });
  else if (order === 'fault') answer({ id, code: null, message: 'it went wrong' });
  else
    answer({
      id,
      reading: {
        page: {
          ...WITHOUT_CONTENT,
          url: request.task.url,
          finalUrl: request.response.finalUrl,
          statusCode: request.response.statusCode,
          fetchedAt: request.fetchedAt,
          depth: request.task.depth,
          bytes: request.response.body.byteLength,
          title: order,
        },
        discovered: [],
        outcome: 'ok',
        evidence: `thread ${threadId}`,
        vendor: null,
        isNoindex: false,
        leadsTo: null,
        yield: { textLength: 0, linkCount: 0 },
        sitemapProblem: null,
        // What a page is said to have taken decides whose turn is next.
        ms: order === 'slow' ? 2_000 : 0,
        ...(unread === undefined ? {} : { failure: { code: 'EXTRACTION_FAILED' as const, message: unread } }),
      },
    });
}
