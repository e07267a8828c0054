import { Jobs } from './jobs.ts';
import { List } from './lists.ts';
import { Exports, Monitors, Schedules, Snapshots, Webhooks } from './resources.ts';
import { type CallOptions, type ClientOptions, Transport } from './transport.ts';
import type { Body, Data, Item, Job, Page, Query } from './types.ts';

/**
 * A client of one Scrapifie server.
 *
 * Requests are repeated when the connection fails and for the statuses 408, 425, 429, 500 and 503 (502 and 504 from a proxy
 * in between), after the pause that the server asks for. Requests that create something carry an Idempotency-Key, so that repeating them creates
 * nothing twice.
 */
export class Scrapifie {
  readonly jobs: Jobs;
  readonly exports: Exports;
  readonly snapshots: Snapshots;
  readonly monitors: Monitors;
  readonly schedules: Schedules;
  readonly webhooks: Webhooks;
  readonly #transport: Transport;

  constructor(options: ClientOptions) {
    this.#transport = new Transport(options);
    this.jobs = new Jobs(this.#transport);
    this.exports = new Exports(this.#transport);
    this.snapshots = new Snapshots(this.#transport);
    this.monitors = new Monitors(this.#transport);
    this.schedules = new Schedules(this.#transport);
    this.webhooks = new Webhooks(this.#transport);
  }

  /** Fetches one page and waits for it. */
  scrape(request: Body<'scrape'>, options: CallOptions = {}): Promise<Page> {
    return this.#transport.json({ method: 'POST', path: '/v1/scrape', body: request, ...options });
  }

  /** Starts a job over a list of URLs. */
  batch(request: Body<'startBatch'>, options: CallOptions = {}): Promise<Job> {
    return this.#transport.json({ method: 'POST', path: '/v1/batch', body: request, ...options });
  }

  /** Starts a crawl. `jobs.wait` waits for its end, `jobs.events` tells what happens meanwhile. */
  crawl(request: Body<'startCrawl'>, options: CallOptions = {}): Promise<Job> {
    return this.#transport.json({ method: 'POST', path: '/v1/crawl', body: request, ...options });
  }

  /** URLs of a site, without reading its pages. */
  map(request: Body<'mapSite'>, options: CallOptions = {}): Promise<Data<'mapSite'>> {
    return this.#transport.json({ method: 'POST', path: '/v1/map', body: request, ...options });
  }

  /** Structured data of a page, by rules, a type or a schema. */
  extract(request: Body<'extract'>, options: CallOptions = {}): Promise<Data<'extract'>> {
    return this.#transport.json({ method: 'POST', path: '/v1/extract', body: request, ...options });
  }

  /** Full-text search over stored pages, best first. */
  search(query: Query<'search'>, options: CallOptions = {}): List<Item<'search'>> {
    return new List(this.#transport, '/v1/search', query, options);
  }

  /** A typed question over what is stored, or SQL over the lake. */
  query(request: Body<'query'>, options: CallOptions = {}): Promise<Data<'query'>> {
    return this.#transport.json({ method: 'POST', path: '/v1/query', body: request, ...options });
  }

  account(options: CallOptions = {}): Promise<Data<'getAccount'>> {
    return this.#transport.json({ method: 'GET', path: '/v1/account', ...options });
  }

  usage(query?: Query<'listUsage'>, options: CallOptions = {}): List<Item<'listUsage'>> {
    return new List(this.#transport, '/v1/usage', query, options);
  }
}
