import type { ServerResponse } from 'node:http';
import { pipeline, Readable } from 'node:stream';
import type { LogEntry, RequestLog } from './request-log.ts';

/**
 * How a parent process reads the site's log. These requests are not logged themselves.
 *
 * `/__log?since=N` one JSON object per line, from sequence number N on; `x-dropped` says how many are lost
 * `/__counts`      `{ total, uncounted, urls: { url: count } }`
 * `/__reset`       forgets all of it and makes recovering pages fail again
 */
export function answerControl(
  target: string,
  response: ServerResponse,
  log: RequestLog,
  reset: () => void,
): void {
  const url = new URL(target, 'http://site');
  switch (url.pathname) {
    case '/__log': {
      const entries = log.entries(Number(url.searchParams.get('since')) || 0);
      response.writeHead(200, { 'content-type': 'application/x-ndjson', 'x-dropped': log.dropped() });
      pipeline(Readable.from(lines(entries)), response, () => {});
      return;
    }
    case '/__counts':
      respond(response, 200, log.counts());
      return;
    case '/__reset':
      reset();
      respond(response, 200, { isReset: true });
      return;
    default:
      respond(response, 404, { error: 'There is /__log?since=N, /__counts and /__reset.' });
  }
}

function respond(response: ServerResponse, status: number, value: unknown): void {
  const body = Buffer.from(`${JSON.stringify(value)}\n`);
  response.writeHead(status, { 'content-type': 'application/json', 'content-length': body.length });
  response.end(body);
}

const LINES_PER_PIECE = 1_000;

function* lines(entries: readonly LogEntry[]): Generator<string> {
  for (let from = 0; from < entries.length; from += LINES_PER_PIECE) {
    let piece = '';
    for (const entry of entries.slice(from, from + LINES_PER_PIECE)) piece += `${JSON.stringify(entry)}\n`;
    yield piece;
  }
}
