import { hash } from 'node:crypto';
import type { LogEntry } from '../../site/request-log.ts';
import type { Counter, JobView, RequestRecord, ResultRecord, UrlRecord } from './history.ts';
import { workerNamed } from './stage.ts';

/** A job as the API shows it. */
export interface ApiJob {
  readonly id: string;
  readonly kind: string;
  readonly status: string;
  readonly stopReason: string | null;
  readonly createdAt: string;
  readonly finishedAt: string | null;
  readonly progress: Readonly<Record<Counter, number>>;
}

const timeOf = (iso: string | null) => (iso === null ? null : Date.parse(iso));

export function viewOf({ status, stopReason, createdAt, finishedAt, progress }: ApiJob): JobView {
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

export function urlOf(job: string, line: string): UrlRecord {
  const entry = JSON.parse(line) as Omit<UrlRecord, 'discoveredAt' | 'finishedAt' | 'attempts'> & {
    discoveredAt: string;
    finishedAt: string | null;
    attempts: { outcome: string; at: string; bytes: number }[];
  };
  return {
    job,
    url: entry.url,
    state: entry.state,
    rule: entry.rule,
    errorCode: entry.errorCode,
    discoveredAt: Date.parse(entry.discoveredAt),
    finishedAt: timeOf(entry.finishedAt),
    attempts: entry.attempts.map(({ outcome, at, bytes }) => ({ outcome, at: Date.parse(at), bytes })),
  };
}

export function resultOf(job: string, line: string): ResultRecord {
  const { rawHtml, url, statusCode, title, contentHash, bytes } = JSON.parse(line) as Omit<
    ResultRecord,
    'bodyHash'
  > & { rawHtml: string | null };
  const bodyHash = rawHtml === null || rawHtml === undefined ? null : hash('sha256', rawHtml);
  return { job, url, statusCode, title, contentHash, bodyHash, bytes };
}
