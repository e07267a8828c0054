import type { EventSink } from '../../capabilities/events/event-listener.ts';
import { createEventStreams } from '../../capabilities/events/event-streams.ts';
import { parseEventStream, type StreamEvent } from '../../capabilities/events/parse-stream.ts';
import { EVENT_LINKS } from '../../capabilities/views/job-view.ts';
import type { Job } from '../../core/model/job.ts';
import type { Store } from '../../core/ports/store.ts';

/** Nothing wakes the reader up: other processes work on the job, so it looks at the store this often. */
const LOOK_MS = 500;

/** The events of a job as they come into the store, until the job has ended. */
export async function* followLocally(store: Store, job: Job): AsyncGenerator<StreamEvent> {
  const streams = createEventStreams({
    store,
    bus: { subscribe: () => () => undefined },
    links: EVENT_LINKS,
    now: Date.now,
    maxStreams: 1,
    maxPerAccount: 1,
    pollMs: LOOK_MS,
  });
  const pipe = createPipe();
  const { accountId, id: jobId } = job;
  const request = { accountId, jobId, types: null, after: null, mayReadPrivate: true, sink: pipe.sink };
  const ended = streams.listen({ ...request, isAllowed: async () => true });
  try {
    yield* parseEventStream(pipe.chunks());
    await ended;
  } finally {
    streams.close();
  }
}

/** What is written waits until it is read; the reader of a command reads all the time. */
function createPipe(): { readonly sink: EventSink; chunks(): AsyncGenerator<string> } {
  let written: string[] = [];
  let isOver = false;
  let wake = () => {};
  const { signal } = new AbortController();
  const end = () => {
    isOver = true;
    wake();
  };
  return {
    sink: {
      gone: signal,
      open: () => undefined,
      write(bytes) {
        written.push(String(bytes));
        wake();
        return true;
      },
      drained: async () => undefined,
      end,
      destroy: end,
    },
    async *chunks() {
      for (;;) {
        const taken = written;
        written = [];
        yield* taken;
        if (written.length > 0) continue;
        if (isOver) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
