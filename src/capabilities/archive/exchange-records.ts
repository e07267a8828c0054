import { DatabaseSync } from 'node:sqlite';
import {
  digestOf,
  type HeaderLine,
  recordId,
  requestHead,
  responseHead,
  type WarcField,
  type WarcRecord,
  warcDate,
} from '../../lib/warc/warc-record.ts';
import type { ArchivedXhr, Exchange, RenderedExchange } from './exchange.ts';

/** Names the JSON of a page's facts. */
export const PAGE_FACTS_TYPE = 'application/vnd.scrapifie.page+json';
const REQUEST_TYPE = 'application/http; msgtype=request';
const RESPONSE_TYPE = 'application/http; msgtype=response';
const NO_BYTES = new Uint8Array();
const UNKNOWN_TYPE = 'application/octet-stream';
/** Repeated bodies below this cost less than the reference to the first one. */
const LEAST_REPEATED_BYTES = 512;
const PROFILES = {
  'not-modified': 'http://netpreserve.org/warc/1.1/revisit/server-not-modified',
  'same-payload': 'http://netpreserve.org/warc/1.1/revisit/identical-payload-digest',
} as const;
/** Bodies are kept decoded: headers that say how they were sent would mislead readers. */
const SENT_ENCODED: ReadonlySet<string> = new Set(['content-encoding', 'transfer-encoding']);

/**
 * The records of an exchange, in the order in which they belong into a file: a pair of request and response for each
 * redirect, then that of the page, then what a browser made of it, then the facts about it. Every
 * exchange has facts.
 */
export function* recordsOf(exchange: Exchange, known: KnownPayloads): Generator<WarcRecord> {
  yield* redirectRecords(exchange);
  const main = mainRecords(exchange, known);
  yield* main;
  if (exchange.rendered !== null) yield* renderedRecords(exchange, exchange.rendered, main[0]?.id ?? null);
  yield factsRecord(exchange, main[0]?.id ?? null);
}

function* redirectRecords(exchange: Exchange): Generator<WarcRecord> {
  const { redirects, key, fetchedAt, finalUrl } = exchange;
  for (const [at, { url, statusCode }] of redirects.entries()) {
    const location = redirects[at + 1]?.url ?? finalUrl;
    const id = recordId(...key, 'redirect', at);
    const head = responseHead(statusCode, [
      ['location', location],
      ['content-length', '0'],
    ]);
    yield response(id, url, fetchedAt, head, NO_BYTES);
    yield request(
      exchange,
      url,
      id,
      recordId(...key, 'redirect-request', at),
      at === 0 ? exchange.method : 'GET',
    );
  }
}

/** The page itself; its first record is the one that others refer to. Empty when no response came. */
function mainRecords(exchange: Exchange, known: KnownPayloads): WarcRecord[] {
  const { key, finalUrl, fetchedAt, statusCode, body, rendered, isNotModified } = exchange;
  if (statusCode === null) return [];
  const isShown = rendered !== null && rendered.raw === null;
  const payload = rendered?.raw ?? body;
  if (isShown && body !== null) return [shownRecord(exchange, body)];
  const id = recordId(...key, 'response');
  const asked = request(exchange, finalUrl, id, recordId(...key, 'request'), methodOf(exchange));
  if (payload === null) {
    const head = responseHead(statusCode, sentHeaders(exchange.headers, 0));
    return [
      { ...response(id, finalUrl, fetchedAt, head, NO_BYTES), fields: [['WARC-Truncated', 'unspecified']] },
      asked,
    ];
  }
  if (isNotModified) return [...notModified(exchange, payload, id, known), asked];
  const head = responseHead(statusCode, sentHeaders(exchange.headers, payload.byteLength));
  if (payload.byteLength < LEAST_REPEATED_BYTES)
    return [response(id, finalUrl, fetchedAt, head, payload), asked];
  const digest = digestOf(payload);
  const first = known.get(digest);
  if (first === undefined) {
    known.add(digest, { id, url: finalUrl, at: fetchedAt });
    return [response(id, finalUrl, fetchedAt, head, payload), asked];
  }
  return [revisit(id, finalUrl, fetchedAt, 'same-payload', head, digest, first), asked];
}

/** After a redirect only the first request had the method of the job. */
const methodOf = ({ redirects, method }: Exchange) => (redirects.length === 0 ? method : 'GET');

/** The body was not sent: it is written as a resource of ours, unless the file has it already. */
function notModified(
  exchange: Exchange,
  payload: Uint8Array,
  id: string,
  known: KnownPayloads,
): WarcRecord[] {
  const { key, finalUrl, fetchedAt, headers, contentType } = exchange;
  const digest = digestOf(payload);
  const head = responseHead(304, sentHeaders(headers, 0));
  const first = known.get(digest);
  if (first !== undefined) return [revisit(id, finalUrl, fetchedAt, 'not-modified', head, digest, first)];
  const kept: WarcRecord = {
    type: 'resource',
    id: recordId(...key, 'stored'),
    at: fetchedAt,
    targetUri: finalUrl,
    contentType: contentType ?? UNKNOWN_TYPE,
    head: NO_BYTES,
    payload,
  };
  const place = { id: kept.id, url: finalUrl, at: fetchedAt };
  known.add(digest, place);
  return [revisit(id, finalUrl, fetchedAt, 'not-modified', head, digest, place), kept];
}

function response(id: string, url: string, at: number, head: Uint8Array, payload: Uint8Array): WarcRecord {
  return { type: 'response', id, at, targetUri: url, contentType: RESPONSE_TYPE, head, payload };
}

function request(
  { requestHeaders, fetchedAt }: Exchange,
  url: string,
  answeredBy: string,
  id: string,
  method: string,
): WarcRecord {
  return {
    type: 'request',
    id,
    at: fetchedAt,
    targetUri: url,
    contentType: REQUEST_TYPE,
    fields: [['WARC-Concurrent-To', answeredBy]],
    head: requestHead(method, new URL(url), requestHeaders),
    payload: NO_BYTES,
  };
}

function revisit(
  id: string,
  url: string,
  at: number,
  why: keyof typeof PROFILES,
  head: Uint8Array,
  digest: string,
  first: { readonly id: string; readonly url: string; readonly at: number },
): WarcRecord {
  return {
    type: 'revisit',
    id,
    at,
    targetUri: url,
    contentType: RESPONSE_TYPE,
    fields: [
      ['WARC-Profile', PROFILES[why]],
      ['WARC-Refers-To', first.id],
      ['WARC-Refers-To-Target-URI', first.url],
      ['WARC-Refers-To-Date', warcDate(first.at)],
      ['WARC-Payload-Digest', digest],
    ],
    head,
    payload: NO_BYTES,
  };
}

/** The document after its scripts ran, where the one before was not kept. */
function shownRecord({ key, finalUrl, fetchedAt, contentType }: Exchange, body: Uint8Array): WarcRecord {
  return {
    type: 'resource',
    id: recordId(...key, 'shown'),
    at: fetchedAt,
    targetUri: finalUrl,
    contentType: contentType ?? UNKNOWN_TYPE,
    head: NO_BYTES,
    payload: body,
  };
}

function* renderedRecords(
  exchange: Exchange,
  { raw, artifacts, xhr }: RenderedExchange,
  mainId: string | null,
): Generator<WarcRecord> {
  const { key, finalUrl, fetchedAt, body, contentType } = exchange;
  const refersTo: readonly WarcField[] = mainId === null ? [] : [['WARC-Refers-To', mainId]];
  if (raw !== null && body !== null) {
    const shown = shownRecord(exchange, body);
    yield { ...shown, type: 'conversion', fields: refersTo, contentType: contentType ?? UNKNOWN_TYPE };
  }
  for (const { name, contentType: type, bytes } of artifacts) {
    yield {
      type: 'resource',
      id: recordId(...key, name),
      at: fetchedAt,
      targetUri: `urn:${name}:${finalUrl}`,
      contentType: type,
      ...(mainId === null ? {} : { fields: [['WARC-Concurrent-To', mainId]] }),
      head: NO_BYTES,
      payload: bytes,
    };
  }
  for (const [at, answer] of xhr.entries()) {
    if (URL.canParse(answer.url)) yield* xhrRecords(exchange, answer, at);
  }
}

export const xhrId = (key: Exchange['key'], at: number): string => recordId(...key, 'xhr', at);

function* xhrRecords(exchange: Exchange, answer: ArchivedXhr, at: number): Generator<WarcRecord> {
  const { url, method, statusCode, contentType, body } = answer;
  const id = xhrId(exchange.key, at);
  const payload = body ?? NO_BYTES;
  const headers: HeaderLine[] = contentType === null ? [] : [['content-type', contentType]];
  const head = responseHead(statusCode, [...headers, ['content-length', String(payload.byteLength)]]);
  const record = response(id, url, exchange.fetchedAt, head, payload);
  yield answer.isTooLarge ? { ...record, fields: [['WARC-Truncated', 'length']] } : record;
  yield request(
    { ...exchange, requestHeaders: [] },
    url,
    id,
    recordId(...exchange.key, 'xhr-request', at),
    method,
  );
}

/** Facts about the page that are in no header; a replay of a rendered page is made from them. */
function factsRecord(exchange: Exchange, mainId: string | null): WarcRecord {
  const { key, url, finalUrl, fetchedAt, statusCode, contentType, error, rendered, headers, page } = exchange;
  const facts = {
    url,
    finalUrl,
    statusCode,
    isPage: page !== null,
    ...page,
    ...(error === null ? {} : { error }),
    ...(rendered === null
      ? {}
      : {
          rendered: {
            contentType,
            headers,
            hasRaw: rendered.raw !== null,
            artifacts: rendered.artifacts.map(({ name, contentType: type }) => ({
              name,
              contentType: type,
              id: recordId(...key, name),
            })),
            xhr: rendered.xhr.map(({ body, ...answer }, at) => ({
              ...answer,
              ...(body === null ? {} : { id: xhrId(key, at) }),
            })),
            consoleErrors: rendered.consoleErrors,
            actions: rendered.actions,
            failure: rendered.failure,
          },
        }),
  };
  return {
    type: 'metadata',
    id: recordId(...key, 'facts'),
    at: fetchedAt,
    targetUri: mainId === null ? url : finalUrl,
    contentType: PAGE_FACTS_TYPE,
    fields: mainId === null ? [] : [['WARC-Concurrent-To', mainId]],
    head: NO_BYTES,
    payload: Buffer.from(JSON.stringify(facts)),
  };
}

/** The headers as they fit the stored body; what they said about the sent one is kept under other names. */
function sentHeaders(headers: readonly HeaderLine[], bodyBytes: number): HeaderLine[] {
  return headers.flatMap(([name, value]): HeaderLine[] => {
    if (SENT_ENCODED.has(name)) return [[`x-archive-orig-${name}`, value]];
    if (name !== 'content-length' || value.trim() === String(bodyBytes)) return [[name, value]];
    return [
      [`x-archive-orig-${name}`, value],
      [name, String(bodyBytes)],
    ];
  });
}

/** Where a body was first written. */
export interface PayloadPlace {
  readonly id: string;
  readonly url: string;
  readonly at: number;
}

/** The bodies that an archive has already, by digest: a repeated one becomes a reference. */
export interface KnownPayloads {
  get(digest: string): PayloadPlace | undefined;
  add(digest: string, place: PayloadPlace): void;
  /** May be called again. */
  close(): void;
}

/** Beyond this the oldest are forgotten, and their bodies may be written again. */
const MOST_PAYLOADS = 25_000;

/** A database in memory: as objects, the places would take three times as much, and the heap as much again around them. */
export function createKnownPayloads(mostPayloads = MOST_PAYLOADS): KnownPayloads {
  const database = new DatabaseSync(':memory:');
  database.exec(
    `CREATE TABLE payloads (slot INTEGER PRIMARY KEY, digest TEXT UNIQUE, id TEXT, url TEXT, at INTEGER)`,
  );
  const find = database.prepare('SELECT id, url, at FROM payloads WHERE digest = ?');
  const put = database.prepare('INSERT OR REPLACE INTO payloads VALUES (?, ?, ?, ?, ?)');
  let added = 0;
  return {
    get(digest) {
      const row = find.get(digest);
      return row === undefined ? undefined : { id: String(row.id), url: String(row.url), at: Number(row.at) };
    },
    add(digest, { id, url, at }) {
      put.run(added % mostPayloads, digest, id, url, at);
      added += 1;
    },
    close() {
      if (database.isOpen) database.close();
    },
  };
}
