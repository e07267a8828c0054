import { hash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { netUrl, renderNetPage } from '../../site/pages/net.ts';
import type { FleetClient } from './fleet-client.ts';
import type { CallRecord } from './history.ts';
import { createJobLife, type Harvest, type JobLife } from './job-life.ts';
import { batchPlan, crawlPlan, type JobPlan, renderPlan, retryPlan } from './job-plans.ts';
import type { ApiJob } from './records.ts';

export interface WorkloadOptions {
  readonly client: FleetClient;
  readonly port: number;
  readonly random: () => number;
  readonly now: () => number;
  /** Large crawls that last for most of the run, all of the same hosts; the other jobs share these. */
  readonly mainCrawls: number;
  readonly mainHosts: number;
  /** Pages of all large crawls together. */
  readonly mainPages: number;
  /** Pages of a job beside them, on average. */
  readonly sidePages: number;
  /** Jobs beside them at the same time; with none there is nothing but the large crawls. */
  readonly sideJobs: number;
  /** New jobs are accepted until so many pages have been asked for; afterwards for as long as `hasMore` says. */
  readonly pages: number;
  readonly hasMore: () => boolean;
  readonly hasBrowser: boolean;
  /** Clients that scrape single pages, one after the other each. */
  readonly scrapers: number;
  /** What goes on beside the jobs for as long as there is more to do. */
  readonly beside?: (isMoreWanted: () => boolean) => Promise<void>;
}

/** Clients that use the fleet all at once, each in its own way. */
export interface Workload {
  readonly calls: readonly CallRecord[];
  readonly lives: readonly JobLife[];
  /** Pages that were asked for so far. */
  readonly pagesAsked: number;
  /** Resolves when there is no more to be accepted and every job has ended. */
  run(): Promise<void>;
  /** One job more, seen through to its end. */
  live(plan: JobPlan): Promise<void>;
  /** Accepts nothing more; what was accepted goes on. */
  acceptNoMore(): void;
  /** Gives up what has not ended. */
  giveUp(): void;
  /** Sees every job through once more, after the faults: the store may have gone back behind an end. */
  settleAll(): Promise<void>;
  harvestAll(): Promise<Harvest[]>;
  /**
   * Deletes every job that the store knows, also those that no client remembers; one that does not end is left, and found
   * among what is left behind. Resolves with the ids of all.
   */
  deleteAll(): Promise<string[]>;
}

const SCRAPE_WEB = { hosts: 30, pagesPerHost: 5_000 };
const SCRAPE_MS = 40_000;
const BETWEEN_SCRAPES_MS = 300;
const MOST_LISTED = 100;
const READ_AT_ONCE = 4;
const DELETE_MS = 30_000;
const RENDERED_AT_ONCE = 20;
const FAILING_AT_ONCE = 8;

function scrapeAnswer(data: unknown, url: string, wanted: string): string {
  const { id, contentHash, rawHtml } = data as { id: string; contentHash: string; rawHtml: string | null };
  const isRight = contentHash === wanted && rawHtml !== null && hash('sha256', rawHtml) === wanted;
  return `${id} ${isRight ? 'right' : `wrong: ${contentHash}`} ${url}`;
}

export function createWorkload(options: WorkloadOptions): Workload {
  const { client, port, random, now } = options;
  const calls: CallRecord[] = [];
  const lives: JobLife[] = [];
  let pagesAsked = 0;
  let jobs = 0;
  let scrapes = 0;
  let isClosed = false;
  let hasGivenUp = false;

  const isOver = () => hasGivenUp;
  const isMoreWanted = () => !isClosed && (pagesAsked < options.pages || options.hasMore());

  async function live(plan: JobPlan): Promise<void> {
    const life = createJobLife({ plan, client, now, onCall: (call) => void calls.push(call) });
    lives.push(life);
    pagesAsked += Object.keys(plan.wanted).length;
    await life.accept();
    await life.settle(isOver);
  }

  /** Another size each time: no two jobs have a URL in common. */
  function sidePlan(): JobPlan {
    jobs += 1;
    // Some at few hosts and some at many, all of them hosts of the large crawls.
    const hosts = Math.min(options.mainHosts, 8 + Math.floor(random() * (options.mainHosts / 2)));
    const pagesPerHost = Math.ceil(options.sidePages / hosts) + (jobs % 3);
    const course = {
      cancelsAt: random() < 0.35 ? Math.ceil(hosts * pagesPerHost * random() * 0.6) : null,
      isDeletedEarly: random() < 0.4,
    };
    const unique = uniqueSize({ hosts, pagesPerHost });
    return random() < 0.6
      ? crawlPlan(`crawl-${jobs}`, unique, port, course)
      : batchPlan(`batch-${jobs}`, unique, port, course);
  }

  const taken = new Set<string>();
  function uniqueSize({ hosts, pagesPerHost }: { hosts: number; pagesPerHost: number }) {
    let pages = pagesPerHost;
    while (taken.has(`${hosts}x${pages}`)) pages += 1;
    taken.add(`${hosts}x${pages}`);
    return { hosts, pagesPerHost: pages };
  }

  /** One page under a key, asked for again with the same key: the same page of the same job. */
  async function scrapeTwice(): Promise<void> {
    scrapes += 1;
    const page = { host: Math.floor(random() * SCRAPE_WEB.hosts), page: scrapes % SCRAPE_WEB.pagesPerHost };
    const url = netUrl(SCRAPE_WEB, page, port);
    const wanted = hash('sha256', renderNetPage(SCRAPE_WEB, page, port));
    const idempotencyKey = `scrape-${scrapes}`;
    let answers = 0;
    while (answers < 2 && !isOver()) {
      const at = now();
      const { status, data, code } = await client.ask('POST', '/v1/scrape', {
        body: { url, formats: ['rawHtml'] },
        ...{ idempotencyKey, limitMs: SCRAPE_MS },
      });
      const answer = status === 200 ? scrapeAnswer(data, url, wanted) : code;
      calls.push({ at, endedAt: now(), job: idempotencyKey, what: 'scrape', status, answer });
      if (status === 200) answers += 1;
      else await delay(BETWEEN_SCRAPES_MS);
    }
  }

  async function repeat(work: () => Promise<void>, betweenMs: number): Promise<void> {
    do {
      await work();
      await delay(betweenMs);
    } while (isMoreWanted());
  }

  async function* listed(): AsyncGenerator<ApiJob> {
    let cursor = '';
    do {
      const { data } = await client.ask('GET', `/v1/jobs?limit=${MOST_LISTED}${cursor}`);
      const { items, nextCursor } = data as { items: ApiJob[]; nextCursor: string | null };
      yield* items;
      cursor = nextCursor === null ? '' : `&cursor=${encodeURIComponent(nextCursor)}`;
    } while (cursor !== '');
  }

  return {
    calls,
    lives,
    get pagesAsked() {
      return pagesAsked;
    },
    live,
    async run() {
      const { mainHosts: hosts, mainCrawls } = options;
      const pagesPerHost = Math.ceil(options.mainPages / mainCrawls / hosts);
      const main = Array.from({ length: mainCrawls }, (_, at) =>
        live(crawlPlan(`crawl-main-${at + 1}`, uniqueSize({ hosts, pagesPerHost }), port)),
      );
      if (options.sideJobs === 0) {
        await Promise.all(main);
        return;
      }
      await Promise.all([
        ...main,
        ...Array.from({ length: options.sideJobs }, () => repeat(() => live(sidePlan()), 0)),
        repeat(() => live(retryPlan(`retry-${++jobs}`, jobs, FAILING_AT_ONCE, port)), 2_000),
        ...(options.hasBrowser
          ? [repeat(() => live(renderPlan(`render-${++jobs}`, RENDERED_AT_ONCE, 37 * jobs, port)), 500)]
          : []),
        ...Array.from({ length: options.scrapers }, () => repeat(scrapeTwice, BETWEEN_SCRAPES_MS)),
        options.beside?.(isMoreWanted),
      ]);
    },
    acceptNoMore() {
      isClosed = true;
    },
    giveUp() {
      isClosed = true;
      hasGivenUp = true;
    },
    async settleAll() {
      await Promise.all(lives.map((life) => life.settle(isOver)));
    },
    async harvestAll() {
      const harvests: Harvest[] = [];
      const left = [...lives];
      const work = async () => {
        for (let life = left.shift(); life !== undefined; life = left.shift())
          harvests.push(await life.harvest());
      };
      await Promise.all(Array.from({ length: READ_AT_ONCE }, work));
      return harvests;
    },
    async deleteAll() {
      const ids: string[] = [];
      for await (const { id, finishedAt } of listed()) {
        ids.push(id);
        if (finishedAt === null) await client.ask('POST', `/v1/jobs/${id}/cancel`);
      }
      const deadline = performance.now() + DELETE_MS;
      for (const id of ids) {
        for (;;) {
          const { status } = await client.ask('DELETE', `/v1/jobs/${id}`);
          if (status !== 409 || performance.now() > deadline) break;
          await delay(BETWEEN_SCRAPES_MS);
        }
      }
      return ids;
    },
  };
}
