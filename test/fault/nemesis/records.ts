import { hash } from 'node:crypto';
import { type NetSize, netUrl, renderNetPage } from '../../site/pages/net.ts';
import type { LogEntry } from '../../site/request-log.ts';
import type { Counter, Expected, JobRecord, RequestRecord, ResultRecord, UrlRecord } from './history.ts';
import { workerNamed } from './stage.ts';

/** A job as the API shows it. */
export interface JobView {
  readonly id: string;
  readonly status: string;
  readonly stopReason: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly progress: Readonly<Record<Counter, number>>;
}

const timeOf = (iso: string | null) => (iso === null ? null : Date.parse(iso));

export function expectedOf(size: NetSize, port: number, promise: Omit<Expected, 'pages'>): Expected {
  const pages: Record<string, string> = {};
  for (let host = 0; host < size.hosts; host++) {
    for (let page = 0; page < size.pagesPerHost; page++) {
      pages[netUrl(size, { host, page }, port)] = hash('sha256', renderNetPage(size, { host, page }, port));
    }
  }
  return { ...promise, pages };
}

export function jobOf({ status, stopReason, createdAt, finishedAt, progress }: JobView): JobRecord {
  return {
    status,
    stopReason,
    createdAt: Date.parse(createdAt),
    finishedAt: timeOf(finishedAt),
    counters: progress,
  };
}

export function requestOf({ headers, ...entry }: LogEntry): RequestRecord {
  const { at, endedAt, host, path, status, remotePort, inFlight } = entry;
  return {
    at,
    endedAt,
    host,
    path,
    status,
    worker: workerNamed(headers['user-agent']),
    remotePort,
    inFlight,
  };
}

export function urlOf(line: string): UrlRecord {
  const entry = JSON.parse(line) as Omit<UrlRecord, 'discoveredAt' | 'finishedAt' | 'attempts'> & {
    discoveredAt: string;
    finishedAt: string | null;
    attempts: { outcome: string; at: string; bytes: number }[];
  };
  return {
    url: entry.url,
    state: entry.state,
    rule: entry.rule,
    errorCode: entry.errorCode,
    discoveredAt: Date.parse(entry.discoveredAt),
    finishedAt: timeOf(entry.finishedAt),
    attempts: entry.attempts.map(({ outcome, at, bytes }) => ({ outcome, at: Date.parse(at), bytes })),
  };
}

export function resultOf(line: string): ResultRecord {
  const { rawHtml, url, statusCode, contentHash, bytes } = JSON.parse(line) as Omit<
    ResultRecord,
    'bodyHash'
  > & {
    rawHtml: string | null;
  };
  return { url, statusCode, contentHash, bodyHash: rawHtml === null ? null : hash('sha256', rawHtml), bytes };
}
