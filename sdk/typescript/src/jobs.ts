import { BadAnswerError, ConnectionError, JobFailedError } from './errors.ts';
import { List } from './lists.ts';
import { pause } from './retries.ts';
import { eventsOf, objectsOf, type StreamedEvent } from './streams.ts';
import type { CallOptions, Transport } from './transport.ts';
import type { Body, Data, Item, Job, Page, Query } from './types.ts';

export interface WaitOptions extends CallOptions {
  /** The longest pause between two looks at the job. */
  readonly pollMs?: number;
  /** Jobs that have failed or were cancelled are returned like others, and not thrown as JobFailedError. */
  readonly returnsFailed?: boolean;
}

export interface EventOptions extends CallOptions {
  /** Goes on behind the event of this id. */
  readonly after?: string;
  /** Such as `page.failed` and `job.*`. */
  readonly types?: readonly string[];
}

const FIRST_POLL_MS = 250;
const DEFAULT_POLL_MS = 2_000;
/** How often a stream that brings nothing new is opened again. */
const MOST_EMPTY_STREAMS = 5;
const NDJSON = 'application/x-ndjson';
const FAILED = new Set(['failed', 'cancelled']);
const SUCCEEDED = new Set(['completed', 'partially_completed']);

export class Jobs {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  list(query?: Query<'listJobs'>, options: CallOptions = {}): List<Item<'listJobs'>> {
    return new List(this.#transport, '/v1/jobs', query, options);
  }

  get(id: string, options: CallOptions = {}): Promise<Job> {
    return this.#transport.json({ method: 'GET', path: pathOf(id), ...options });
  }

  cancel(id: string, options: CallOptions = {}): Promise<Data<'cancelJob'>> {
    return this.#transport.json({ method: 'POST', path: pathOf(id, 'cancel'), ...options });
  }

  resume(id: string, options: CallOptions = {}): Promise<Data<'resumeJob'>> {
    return this.#transport.json({ method: 'POST', path: pathOf(id, 'resume'), ...options });
  }

  retry(id: string, options: CallOptions = {}): Promise<Data<'retryJob'>> {
    return this.#transport.json({ method: 'POST', path: pathOf(id, 'retry'), ...options });
  }

  async delete(id: string, options: CallOptions = {}): Promise<void> {
    await this.#transport.json({ method: 'DELETE', path: pathOf(id), ...options });
  }

  /** Pages of the job, in the order they were stored, also while it goes on. */
  results(id: string, query?: Query<'listJobResults'>, options: CallOptions = {}): List<Page> {
    return new List(this.#transport, pathOf(id, 'results'), query, options);
  }

  /** Pages as one stream: the quickest way to read a large job. A stream that breaks off throws ConnectionError. */
  async *stream(
    id: string,
    query?: Query<'listJobResults'>,
    options: CallOptions = {},
  ): AsyncGenerator<Page> {
    const call = { method: 'GET', path: pathOf(id, 'results'), query, ...options } as const;
    yield* objectsOf<Page>(await this.#transport.open(call, NDJSON), this.#transport.maxAnswerBytes);
  }

  errors(id: string, query?: Query<'listJobErrors'>, options: CallOptions = {}): List<Item<'listJobErrors'>> {
    return new List(this.#transport, pathOf(id, 'errors'), query, options);
  }

  /** Every URL that the job has seen, and what became of it by which rule. */
  urls(id: string, query?: Query<'listJobUrls'>, options: CallOptions = {}): List<Item<'listJobUrls'>> {
    return new List(this.#transport, pathOf(id, 'urls'), query, options);
  }

  /** Why a URL of the job was fetched, skipped, denied or failed. */
  why(id: string, url: string, options: CallOptions = {}): Promise<Data<'explainJobUrl'>> {
    return this.#transport.json({ method: 'GET', path: pathOf(id, 'why'), query: { url }, ...options });
  }

  /** What changed on the site since an earlier job. */
  diff(id: string, query: Query<'diffJobs'>, options: CallOptions = {}): List<Item<'diffJobs'>> {
    return new List(this.#transport, pathOf(id, 'diff'), query, options);
  }

  /** Files that were written of the job. */
  exports(
    id: string,
    query?: Query<'listJobExports'>,
    options: CallOptions = {},
  ): List<Item<'listJobExports'>> {
    return new List(this.#transport, pathOf(id, 'exports'), query, options);
  }

  /** Reads stored pages once more by other rules, without fetching them again. */
  async *reextract(
    id: string,
    request: Body<'reextractJob'>,
    options: CallOptions = {},
  ): AsyncGenerator<Page> {
    const call = { method: 'POST', path: pathOf(id, 'reextract'), body: request, ...options } as const;
    yield* objectsOf<Page>(await this.#transport.open(call, NDJSON), this.#transport.maxAnswerBytes);
  }

  /**
   * Events of the job until it has ended. A stream that breaks off is opened again behind the last event, so nothing is
   * missed and nothing comes twice.
   */
  async *events(id: string, { after, types, ...options }: EventOptions = {}): AsyncGenerator<StreamedEvent> {
    let last = after ?? null;
    for (let empty = 0; empty < MOST_EMPTY_STREAMS; ) {
      const openedBehind: string | null = last;
      const headers = last === null ? {} : { 'last-event-id': last };
      const call = { method: 'GET', path: pathOf(id, 'events'), query: { types: types?.join(',') } } as const;
      const response = await this.#transport.open({ ...call, headers, ...options }, 'text/event-stream');
      try {
        for await (const event of eventsOf(response, this.#transport.maxAnswerBytes)) {
          if (event.type === 'end') return;
          if (event.id !== null && event.id === last) continue;
          last = event.id ?? last;
          yield event;
        }
      } catch (error) {
        if (!(error instanceof ConnectionError) || options.signal?.aborted === true) throw error;
      }
      empty = last === openedBehind ? empty + 1 : 0;
      await pause(FIRST_POLL_MS, options.signal);
    }
    throw new ConnectionError(
      'The stream of events breaks off without a new event each time it is opened.',
      null,
    );
  }

  /**
   * Waits until the job has ended. Cancelling by `signal` ends the waiting, not the job. A job that has ended by a status
   * that this client does not know is a BadAnswerError: the client cannot tell whether the job has failed.
   */
  async wait(
    id: string,
    { pollMs = DEFAULT_POLL_MS, returnsFailed = false, ...options }: WaitOptions = {},
  ): Promise<Job> {
    for (let delay = Math.min(FIRST_POLL_MS, pollMs); ; delay = Math.min(pollMs, delay * 1.5)) {
      const job = await this.get(id, options);
      if (typeof job.status !== 'string' || !job.status)
        throw new BadAnswerError(`The job ${id} has no status.`);
      if (typeof job.finishedAt === 'string') {
        if (FAILED.has(job.status) && !returnsFailed) throw new JobFailedError(job);
        if (FAILED.has(job.status) || SUCCEEDED.has(job.status)) return job;
        throw new BadAnswerError(`The job ${id} has ended as ${job.status}, which is no known status.`);
      }
      await pause(delay, options.signal);
    }
  }
}

const pathOf = (id: string, part?: string): string =>
  `/v1/jobs/${encodeURIComponent(id)}${part === undefined ? '' : `/${part}`}`;
