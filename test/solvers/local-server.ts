import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import { listening } from '../proxies/listening.ts';

/** A server on a free port of loopback, which ends with the test. Returns its origin. */
export async function serving(listener: RequestListener): Promise<string> {
  return `http://127.0.0.1:${await listening(createServer(listener))}`;
}

export async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString('utf8');
}

export function sendJson(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value));
}

export function sendHtml(response: ServerResponse, html: string, status = 200): void {
  response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
}

/** Waits for a condition, for half a minute at most. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 30_000;
  while (!(await isSo())) {
    if (performance.now() > end) throw new Error('it did not come true');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
