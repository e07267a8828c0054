import { isScrapifieError, ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, Incarnation, JobSeq, TaskId, UrlKey } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Page, PageRecord } from '../../core/model/page.ts';
import { expiredPart } from '../../core/model/retention.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { JobStore } from '../../core/ports/job-store.ts';
import { createCanonicalizer, parseSeed } from '../../crawl/frontier/canonical.ts';
import type { PageReader, PageReading, ReadOptions, ReadRequest } from '../../crawl/read/page-reading.ts';
import { defined } from '../../lib/defined.ts';
import { CLOSED_SCOPE } from './accept/job-draft.ts';
import {
  type PageResult,
  pageErrorOf,
  rawTextOf,
  readRecord,
  recordFields,
  responseFields,
  rowFields,
} from './results/page-result.ts';

export interface ExtractionDeps {
  /** Stateless. Closed by the code that created it. */
  readonly reader: Pick<PageReader, 'read' | 'backlog'>;
  readonly now: () => number;
}

/** A page whose content the client sends. */
export interface GivenPage {
  /** The account that takes a turn at the threads; missing where there is but one. */
  readonly accountId?: AccountId;
  readonly url: string;
  readonly body: Uint8Array;
  /** Null when the type is to be told from the bytes. */
  readonly contentType: string | null;
}

/** The store and the bodies that the pages of a job are read from. */
export interface PagePlaces {
  readonly store: Pick<JobStore, 'listPages'>;
  readonly blobs: Blobs;
}

/** Reads pages that are there already. Never fetches, never stores. */
export interface Extraction {
  /**
   * The result as of a page just fetched, without a status. Throws INVALID_URL, EXTRACTION_FAILED for what cannot be read
   * in time, and QUEUE_FULL when too many wait.
   */
  read(page: GivenPage, wanted: ReadOptions): Promise<PageResult>;
  /**
   * One result per stored page of a job, in the order they were stored, several being read at a time. A page that cannot
   * be read, or whose body is gone, has an `error` instead; the others go on. Ends when the consumer stops iterating.
   */
  readAgain(
    job: Pick<Job, 'id' | 'accountId'>,
    wanted: ReadOptions,
    pages: PagePlaces,
  ): AsyncGenerator<PageResult>;
}

interface Asked {
  readonly job: ReadRequest['job'];
  readonly accountId: AccountId | undefined;
}

/** Pages of one job under way at once: enough for the threads never to wait for a body. */
const PARALLEL = 8;
const LISTED_TOGETHER = 50;
const MOST_WAITING = 256;
/** Pages that one account may have waiting: it cannot fill the places of all others. */
const MOST_OF_ACCOUNT = MOST_WAITING / 2;
/** Wishes whose rules the threads need not compile again. */
const MOST_KNOWN = 32;

const canonical = createCanonicalizer(CLOSED_SCOPE);
/** Beside the incarnations of stores. */
const NO_STORE = '' as Incarnation;

export function createExtraction({ reader, now }: ExtractionDeps): Extraction {
  const known = new Map<string, ReadRequest['job']>();
  /** Pages that accounts have sent and that are not read yet. */
  const given = new Map<AccountId | undefined, number>();
  let lastSeq = 0;

  /** A job of no store; only the threads know it, by its number. */
  function jobFor(page: ReadOptions): ReadRequest['job'] {
    const key = JSON.stringify(page);
    let job = known.get(key);
    if (job !== undefined) return job;
    lastSeq += 1;
    const options = { scope: CLOSED_SCOPE, page };
    job = {
      seq: lastSeq as JobSeq,
      kind: 'scrape',
      options,
      seeds: [],
      generation: 0,
      incarnation: NO_STORE,
    };
    const [oldest] = known.keys();
    if (known.size >= MOST_KNOWN && oldest !== undefined) known.delete(oldest);
    known.set(key, job);
    return job;
  }

  async function read(
    { job, accountId }: Asked,
    { url, finalUrl, statusCode, contentType, fetchedAt, depth }: ReadPage,
    body: Uint8Array,
  ): Promise<PageReading> {
    const urlKey = (canonical(url)?.urlKey ?? url) as UrlKey;
    const reading = await reader.read({
      accountId,
      job,
      task: { id: 0 as TaskId, kind: 'page', url, urlKey, depth },
      // A copy: the reader owns what it is given, and this may be needed again.
      response: { finalUrl, statusCode, contentType, headers: {}, body: new Uint8Array(body) },
      fetchedAt,
    });
    const { failure } = reading;
    if (failure !== undefined) throw new ScrapifieError(failure.code, failure.message);
    return reading;
  }

  async function readStored(
    page: Page,
    asked: Asked,
    { formats, extract }: ReadOptions,
    blobs: Blobs,
  ): Promise<PageResult> {
    const stored = readRecord(page.record);
    const { rendered, metadata, links } = stored;
    const nothing: PageRecord = { metadata, links, ...(extract === null ? {} : { extracted: null }) };
    const resultOf = (record: PageRecord): PageResult => ({
      ...rowFields(page),
      ...responseFields(page, stored),
      ...recordFields(record, formats),
      ...defined({ expired: page.expired }),
      ...pageErrorOf(page, rendered),
    });
    const hasExpired = page.expired?.includes('bodies') ?? false;
    const body = page.contentHash === null || hasExpired ? null : await blobs.get(page.contentHash);
    if (body === null) {
      const result = resultOf(nothing);
      if (page.contentHash === null) return result;
      if (hasExpired) {
        const { code, message } = expiredPart('The body', 'bodies');
        return { ...result, error: { code, message } };
      }
      return { ...result, error: { code: 'NOT_FOUND', message: 'The body is not kept any more.' } };
    }
    try {
      const statusCode = page.statusCode ?? OK;
      const reading = await read(asked, { ...page, statusCode, contentType: typeOf(page) }, body);
      // What headers said stands in the first record only.
      const result = resultOf({ ...readRecord(reading.page.record), metadata, links });
      return formats.includes('rawHtml') ? { ...result, rawHtml: rawTextOf(page, body) } : result;
    } catch (error) {
      if (!isScrapifieError(error) || error.code !== 'EXTRACTION_FAILED') throw error;
      return { ...resultOf(nothing), error: { code: error.code, message: error.message } };
    }
  }

  return {
    async read({ accountId, url, body, contentType }, wanted) {
      const finalUrl = parseSeed(url);
      const others = given.get(accountId) ?? 0;
      if (others >= MOST_OF_ACCOUNT && accountId !== undefined) {
        throw new ScrapifieError('QUEUE_FULL', 'Too many pages of this account wait to be read.');
      }
      if (reader.backlog >= MOST_WAITING) {
        throw new ScrapifieError('QUEUE_FULL', 'Too many pages wait to be read.');
      }
      const asFetched = { url: finalUrl, finalUrl, statusCode: OK, contentType, fetchedAt: now(), depth: 0 };
      given.set(accountId, others + 1);
      const { page } = await read({ job: jobFor(wanted), accountId }, asFetched, body).finally(() => {
        const left = (given.get(accountId) ?? 1) - 1;
        if (left > 0) given.set(accountId, left);
        else given.delete(accountId);
      });
      return {
        ...rowFields({ ...page, statusCode: null }),
        ...recordFields(readRecord(page.record), wanted.formats),
        ...(wanted.formats.includes('rawHtml') ? { rawHtml: rawTextOf(page, body) } : {}),
      };
    },

    async *readAgain({ id, accountId }, wanted, { store, blobs }) {
      const asked = { job: jobFor(wanted), accountId };
      const underWay: Promise<PageResult>[] = [];
      let cursor: string | undefined;
      do {
        const pages = await store.listPages({ jobId: id, cursor, limit: LISTED_TOGETHER });
        for (const page of pages.items) {
          const reading = readStored(page, asked, wanted, blobs);
          // The consumer may have stopped iterating.
          reading.catch(() => undefined);
          underWay.push(reading);
          const first = underWay.length < PARALLEL ? undefined : underWay.shift();
          if (first !== undefined) yield await first;
        }
        cursor = pages.nextCursor ?? undefined;
      } while (cursor !== undefined);
      for (const reading of underWay) yield await reading;
    },
  };
}

const OK = 200;

interface ReadPage extends Pick<Page, 'url' | 'finalUrl' | 'contentType' | 'fetchedAt' | 'depth'> {
  readonly statusCode: number;
}

/** What the body was decoded by, whatever decided it then. */
function typeOf({ contentType, charset }: Page): string | null {
  if (charset === null) return contentType;
  return `${(contentType ?? '').split(';', 1)[0]?.trim()}; charset=${charset}`;
}
