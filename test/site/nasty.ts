import type { ErrorCode } from '../../src/core/errors/registry.ts';
import type { OutcomeKind } from '../../src/core/model/attempt.ts';
import type { TaskState } from '../../src/core/model/task.ts';
import { CHARSETS } from './pages/charsets.ts';

/** What a fetch of the case should come to. Only what is stated is expected. */
export interface Expectation {
  readonly state?: TaskState;
  readonly code?: ErrorCode;
  /** Codes that are as true as `code`, where the protocol leaves open who notices first. */
  readonly otherCodes?: readonly ErrorCode[];
  readonly statusCode?: number;
  readonly outcome?: OutcomeKind;
  /** The path of the last URL after redirects. */
  readonly finalPath?: string;
  readonly title?: string;
}

export interface NastyCase {
  readonly name: string;
  readonly path: string;
  readonly expect: Expectation;
  readonly note: string;
  /**
   * guard: leaves the loopback; fetch it only where an address guard stops it
   * retries: works only when failed attempts are repeated
   * method: about HEAD or POST; a GET says little
   * leniency: works only where responses are read as browsers read them
   */
  readonly requires?: 'guard' | 'retries' | 'method' | 'leniency';
}

type More = Omit<Expectation, 'code'> & Pick<NastyCase, 'requires'>;

function row(path: string, note: string, expect: Expectation, requires: NastyCase['requires']): NastyCase {
  const made = { name: path.slice(1), path, note, expect };
  return requires === undefined ? made : { ...made, requires };
}
/** Ends well: a page is stored. */
function good(path: string, note: string, { requires, ...more }: More = {}): NastyCase {
  return row(path, note, { state: 'done', statusCode: 200, ...more }, requires);
}
const LENIENT: More = { requires: 'leniency' };

/** Ends in this error. */
function bad(path: string, code: ErrorCode, note: string, { requires, ...more }: More = {}): NastyCase {
  return row(path, note, { state: 'failed', code, ...more }, requires);
}
/** Answers with a status that is an error. */
function status(statusCode: number, path: string, note: string, code: ErrorCode = 'HTTP_ERROR'): NastyCase {
  return bad(path, code, note, { statusCode });
}

const LATE: More = { otherCodes: ['TASK_TIMEOUT'] };
/** A connection that ends too early breaks the protocol, too. */
const CUT: More = { otherCodes: ['PROTOCOL_ERROR'] };
const BROKEN: More = { otherCodes: ['CONNECTION_RESET'] };

/**
 * Every case that one fetch can meet, and how it should end with limits of 10 MB per body after decoding, 64 KB of
 * headers and 10 to 20 redirects. What hangs, hangs for ever, so any time limit will do; what is only slow takes less
 * than a second.
 */
export const NASTY: readonly NastyCase[] = [
  // Pages that answer with redirects.
  good('/redirects/chain/5', 'five redirects', { finalPath: '/redirects/chain/0' }),
  good('/redirects/chain/3?301', 'three permanent redirects', { finalPath: '/redirects/chain/0' }),
  good('/redirects/relative', 'relative location', { finalPath: '/redirects/end' }),
  good('/redirects/dots', 'location with dots', { finalPath: '/redirects/end' }),
  good('/redirects/no-scheme', 'location without a scheme', { finalPath: '/redirects/end' }),
  good('/redirects/fragment', 'location with a fragment', { finalPath: '/redirects/end' }),
  good('/redirects/unicode', 'location in raw UTF-8', { finalPath: '/redirects/end' }),
  good('/redirects/spaces', 'location with spaces', { finalPath: '/redirects/end' }),
  good('/redirects/status/303', 'turns POST into GET', { requires: 'method', finalPath: '/redirects/echo' }),
  good('/redirects/status/307', 'keeps method and body', {
    requires: 'method',
    finalPath: '/redirects/echo',
  }),
  good('/redirects/status/308', 'keeps method and body', {
    requires: 'method',
    finalPath: '/redirects/echo',
  }),
  good('/redirects/other-host', 'leads to another host', { finalPath: '/redirects/end' }),
  good('/redirects/decimal', 'leads to a host written as one number', { finalPath: '/redirects/end' }),
  good('/redirects/refresh', 'meta refresh, not an HTTP redirect'),
  bad('/redirects/chain/60', 'TOO_MANY_REDIRECTS', 'sixty redirects'),
  bad('/redirects/endless', 'TOO_MANY_REDIRECTS', 'a new URL with every redirect'),
  bad('/redirects/self', 'REDIRECT_LOOP', 'to itself'),
  bad('/redirects/loop-a', 'REDIRECT_LOOP', 'to b and back'),
  bad('/redirects/ping-pong', 'REDIRECT_LOOP', 'between two hosts', { otherCodes: ['TOO_MANY_REDIRECTS'] }),
  bad('/redirects/no-location', 'BAD_REDIRECT', 'no location'),
  bad('/redirects/empty-location', 'BAD_REDIRECT', 'empty location', { otherCodes: ['REDIRECT_LOOP'] }),
  bad('/redirects/bad-location', 'BAD_REDIRECT', 'location is no URL'),
  bad('/redirects/bad-port', 'BAD_REDIRECT', 'location with port 99999'),
  bad('/redirects/javascript', 'BAD_REDIRECT', 'to javascript:'),
  bad('/redirects/data', 'BAD_REDIRECT', 'to data:'),
  bad('/redirects/file', 'BAD_REDIRECT', 'to file:'),
  bad('/redirects/ftp', 'BAD_REDIRECT', 'to ftp:'),
  bad('/redirects/closed-port', 'CONNECT_FAILED', 'to a port where nobody listens'),
  bad('/redirects/no-such-host', 'DNS_FAILED', 'to a name that does not resolve', { requires: 'guard' }),
  bad('/redirects/metadata', 'ADDRESS_REFUSED', 'to a cloud metadata address', { requires: 'guard' }),
  bad('/redirects/private', 'ADDRESS_REFUSED', 'to a private address', { requires: 'guard' }),

  // Pages that are slow or endless.
  good('/slow/late/300', 'headers after 300 ms'),
  good('/slow/body/500', 'body over 500 ms'),
  bad('/slow/no-head', 'HEADERS_TIMEOUT', 'never answers', LATE),
  bad('/slow/half-head', 'HEADERS_TIMEOUT', 'stops within the headers', LATE),
  bad('/slow/endless-head', 'HEADERS_TIMEOUT', 'a header every 50 ms for ever', {
    otherCodes: ['TASK_TIMEOUT', 'HEADERS_LIMIT_EXCEEDED'],
  }),
  // Too many of them end the attempt before its time is over.
  bad('/slow/endless-hints', 'HEADERS_TIMEOUT', '103 Early Hints for ever', {
    otherCodes: ['TASK_TIMEOUT', 'PROTOCOL_ERROR'],
  }),
  bad('/slow/no-body', 'BODY_TIMEOUT', 'headers, then nothing', LATE),
  bad('/slow/stall', 'BODY_TIMEOUT', 'stops within the body', LATE),
  bad('/slow/endless-drip', 'BODY_TIMEOUT', 'a byte every 50 ms for ever', LATE),
  bad('/slow/endless-chunks', 'BODY_TIMEOUT', 'a chunk every 50 ms for ever', LATE),
  bad('/slow/flood', 'BODY_LIMIT_EXCEEDED', 'a body without end, fast'),
  bad('/slow/flood-chunks', 'BODY_LIMIT_EXCEEDED', 'chunks without end, fast'),
  bad('/slow/declared-huge', 'BODY_LIMIT_EXCEEDED', 'declares 100 GB'),
  bad('/slow/endless-chunk-size', 'BODY_TIMEOUT', 'a chunk extension without end', {
    otherCodes: ['PROTOCOL_ERROR', 'TASK_TIMEOUT', 'BODY_LIMIT_EXCEEDED'],
  }),

  // Answers that are unusual but correct.
  good('/protocol/http-1.0', 'HTTP/1.0 without a length'),
  good('/protocol/until-close', 'no length, ends with the connection'),
  good('/protocol/chunked', 'two chunks'),
  good('/protocol/chunk-extensions', 'chunk extensions and a trailer'),
  good('/protocol/no-reason', 'status line without a reason'),
  good('/protocol/early-hints', '103 before the answer'),
  good('/protocol/latin1-header', 'a header with an umlaut'),
  good('/protocol/empty-header', 'headers without values'),
  good('/protocol/many-cookies', 'sixty cookies'),
  good('/protocol/large-headers', '7 KB of headers'),
  good('/protocol/too-long', 'more bytes than declared: the rest is not ours'),
  good('/protocol/resets-after', 'reset after the last byte'),
  row('/protocol/no-content', '204', { statusCode: 204 }, undefined),
  row('/protocol/empty', '200 with nothing in it', { statusCode: 200, outcome: 'empty' }, undefined),
  row('/protocol/no-content-with-body', '204 with a body', { statusCode: 204 }, undefined),
  good('/protocol/head-405', 'HEAD is refused, GET works', { requires: 'method' }),
  good('/protocol/head-hangs', 'HEAD hangs, GET works', { requires: 'method' }),
  good('/protocol/head-with-body', 'HEAD has a body', { requires: 'method' }),
  good('/protocol/head-other-length', 'HEAD lies about the length', { requires: 'method' }),

  // Wrong, and read by browsers all the same
  good('/protocol/negative-length', 'length -1: until the connection ends', LENIENT),
  good('/protocol/word-length', 'length "many": until the connection ends', LENIENT),
  good('/protocol/length-and-chunked', 'length and chunks: the chunks count', LENIENT),
  good('/protocol/bad-version', 'HTTP/7.3', LENIENT),
  good('/protocol/bad-header', 'a header line without a colon', LENIENT),

  // Answers that break the protocol.
  bad('/protocol/too-short', 'CONNECTION_RESET', 'fewer bytes than declared', CUT),
  bad('/protocol/no-last-chunk', 'CONNECTION_RESET', 'no last chunk', CUT),
  bad('/protocol/half-chunk', 'CONNECTION_RESET', 'ends within a chunk', CUT),
  bad('/protocol/two-lengths', 'PROTOCOL_ERROR', 'two different lengths'),
  bad('/protocol/bad-chunk-size', 'PROTOCOL_ERROR', 'chunk size zz'),
  bad('/protocol/huge-chunk-size', 'PROTOCOL_ERROR', 'chunk size beyond any number'),
  bad('/protocol/wrong-chunk-size', 'PROTOCOL_ERROR', 'chunk longer than its size'),
  bad('/protocol/bad-status-line', 'PROTOCOL_ERROR', 'malformed status line'),
  bad('/protocol/no-status', 'PROTOCOL_ERROR', 'no status'),
  bad('/protocol/status-0', 'PROTOCOL_ERROR', 'status 000'),
  bad('/protocol/no-head', 'PROTOCOL_ERROR', 'HTML without a head'),
  bad('/protocol/garbage', 'PROTOCOL_ERROR', 'random bytes'),
  bad('/protocol/ssh', 'PROTOCOL_ERROR', 'another protocol'),
  bad('/protocol/null-header', 'PROTOCOL_ERROR', 'a NUL in a header'),
  bad('/protocol/switching', 'PROTOCOL_ERROR', '101 that nobody asked for', BROKEN),
  bad('/protocol/huge-header', 'HEADERS_LIMIT_EXCEEDED', 'one header of 200 KB'),
  bad('/protocol/many-headers', 'HEADERS_LIMIT_EXCEEDED', 'five thousand headers, 200 KB'),
  bad('/protocol/endless-headers', 'HEADERS_LIMIT_EXCEEDED', 'headers without end'),
  bad('/protocol/closes-at-once', 'CONNECTION_RESET', 'closes without an answer'),
  bad('/protocol/resets-at-once', 'CONNECTION_RESET', 'resets without an answer'),
  bad('/protocol/resets-in-head', 'CONNECTION_RESET', 'resets within the headers'),
  bad('/protocol/resets-in-body', 'CONNECTION_RESET', 'resets within the body'),
  bad('/protocol/resets-in-chunk', 'CONNECTION_RESET', 'resets between chunks'),

  // Answers with content encodings.
  ...[
    'gzip',
    'x-gzip',
    'deflate',
    'deflate-raw',
    'br',
    'zstd',
    'identity',
    'twice',
    'two-members',
    'upper-case',
  ].map((name) => good(`/encodings/${name}`, 'decodes', { title: 'Encoded' })),
  good('/encodings/large-but-fine', '5 MB from 15 KB', { title: 'Encoded' }),
  good('/encodings/plain-but-gzip', 'gzip that nobody declares: stored as it is'),
  bad('/encodings/gzip-truncated', 'BAD_ENCODING', 'gzip cut short'),
  bad('/encodings/br-truncated', 'BAD_ENCODING', 'brotli cut short'),
  bad('/encodings/zstd-truncated', 'BAD_ENCODING', 'zstd cut short'),
  bad('/encodings/gzip-bad-checksum', 'BAD_ENCODING', 'wrong checksum'),
  bad('/encodings/gzip-garbage-inside', 'BAD_ENCODING', 'garbage within gzip'),
  bad('/encodings/gzip-but-plain', 'BAD_ENCODING', 'says gzip, is plain'),
  bad('/encodings/br-but-gzip', 'BAD_ENCODING', 'says brotli, is gzip'),
  bad('/encodings/zstd-but-plain', 'BAD_ENCODING', 'says zstd, is plain'),
  bad('/encodings/unknown', 'BAD_ENCODING', 'an encoding that does not exist'),
  bad('/encodings/many-layers', 'BAD_ENCODING', 'fifty layers of gzip', {
    otherCodes: ['PROTOCOL_ERROR', 'BODY_LIMIT_EXCEEDED'],
  }),
  row('/encodings/gzip-empty', 'gzip of no bytes at all', { statusCode: 200 }, undefined),
  bad('/encodings/bomb-gzip', 'BODY_LIMIT_EXCEEDED', '256 MB from 265 KB'),
  bad('/encodings/bomb-deflate', 'BODY_LIMIT_EXCEEDED', '256 MB from 265 KB'),
  bad('/encodings/bomb-br', 'BODY_LIMIT_EXCEEDED', '64 MB from a hundred bytes'),
  bad('/encodings/bomb-zstd', 'BODY_LIMIT_EXCEEDED', '256 MB from 8 KB'),
  bad('/encodings/bomb-nested', 'BODY_LIMIT_EXCEEDED', 'a bomb in a bomb', { otherCodes: ['BAD_ENCODING'] }),

  // Pages in many character sets.
  ...Object.entries(CHARSETS).map(([name, { title, note }]) => good(`/charsets/${name}`, note, { title })),

  // Pages that fail, and recover later.
  good('/again/429/seconds/2', '429 with Retry-After: 1, twice', { requires: 'retries' }),
  good('/again/429/date/1', '429 with a date, once', { requires: 'retries' }),
  good('/again/429/past/1', '429 with a date in the past', { requires: 'retries' }),
  good('/again/429/bad/1', '429 with a Retry-After that makes no sense', { requires: 'retries' }),
  good('/again/503/seconds/2', '503 with Retry-After: 1, twice', { requires: 'retries' }),
  good('/again/500/none/1', '500 once', { requires: 'retries' }),
  good('/again/flaky/a', 'fails now and then', { requires: 'retries' }),
  good('/again/resets/2', 'resets twice', { requires: 'retries' }),
  status(429, '/again/429/none/always', '429 for ever', 'HOST_RATE_LIMITED'),
  status(503, '/again/503/none/always', '503 for ever', 'HOST_RATE_LIMITED'),
  status(500, '/again/500/none/always', '500 for ever'),
  status(502, '/again/502/none/always', '502 for ever'),
  status(404, '/content/404', 'not found'),
  status(410, '/content/410', 'gone'),
  status(401, '/content/401', 'asks for a password'),
  status(418, '/content/418', 'an unusual status'),
  bad('/content/403', 'HTTP_ERROR', 'forbidden', { statusCode: 403, otherCodes: ['BLOCKED'] }),

  // Pages whose content is unusual.
  row(
    '/content/soft-404',
    '200 that says it was not found',
    { statusCode: 200, outcome: 'soft-404' },
    undefined,
  ),
  good('/content/cookie-gate', 'sets a cookie and asks for it', {
    title: 'Inside',
    finalPath: '/content/cookie-inside',
  }),
  ...[
    'etag',
    'modified',
    'canonical',
    'json',
    'text',
    'xml',
    'xhtml',
    'pdf',
    'png',
    'octets',
    'download',
    'no-type',
    'wrong-type',
    'html-but-binary',
  ].map((name) => good(`/content/${name}`, `content: ${name}`)),
  ...[
    'deep-nesting',
    'many-links',
    'same-links',
    'many-attributes',
    'long-attribute',
    'long-url',
    'long-title',
    'long-text',
    'one-line-script',
    'bad-json-ld',
    'many-entities',
    'open-comment',
    'open-tag',
    'unclosed',
    'nulls',
    'no-html',
    'odd-tags',
    'many-titles',
    'many-metas',
    'prototype',
  ].map((name) => good(`/markup/${name}`, `markup: ${name}`)),

  // Traps: one page of each
  ...[
    'calendar/2024/01',
    'session-query/home',
    'session-path/home',
    'facets',
    'deep/',
    'endless/start',
    'pages?page=99',
  ].map((path) => good(`/traps/${path}`, 'a web without end')),
];
