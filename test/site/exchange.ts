import type { IncomingHttpHeaders } from 'node:http';
import type { Wire } from './wire.ts';

/** One request as the page families see it. */
export interface SiteRequest {
  readonly method: string;
  /** The Host header as it was sent. */
  readonly host: string;
  /** Which virtual host that is: a name of the host table, or `default`. */
  readonly site: string;
  /** Without the query, not decoded. */
  readonly path: string;
  /** The query without its question mark; empty when there is none. */
  readonly query: string;
  readonly headers: IncomingHttpHeaders;
  /** Epoch time of arrival in milliseconds. */
  readonly at: number;
  /** Number of pages of the large generated site. */
  readonly pages: number;
  /** Port of the site, for links to its other hosts. */
  readonly port: number;
  /** Counts this URL and returns how often it was counted before: what lets a page fail twice and then work. */
  countVisit(): number;
  readBody(): Promise<Buffer>;
}

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly body: Buffer;
}

/** An answer that Node's server would not let pass: the page writes the bytes of the connection itself. */
export interface RawAnswer {
  readonly write: (wire: Wire) => void;
}

export type Answer = Reply | RawAnswer;

/** A group of pages under one first path segment. Null means there is no such page. */
export interface Family {
  readonly prefix: string;
  readonly about: string;
  /** Where a person or a crawler can safely begin. */
  readonly starts: readonly string[];
  answer(request: SiteRequest): Answer | null | Promise<Answer | null>;
}

export type ReplyHeaders = Readonly<Record<string, string | readonly string[]>>;

export function reply(
  status: number,
  contentType: string,
  body: string | Buffer,
  headers: ReplyHeaders = {},
): Reply {
  return {
    status,
    headers: { 'content-type': contentType, ...headers },
    body: typeof body === 'string' ? Buffer.from(body) : body,
  };
}

export function html(body: string, status = 200, headers: ReplyHeaders = {}): Reply {
  return reply(status, 'text/html; charset=utf-8', body, headers);
}

export function text(body: string, status = 200, headers: ReplyHeaders = {}): Reply {
  return reply(status, 'text/plain; charset=utf-8', body, headers);
}

export function json(value: unknown, status = 200): Reply {
  return reply(status, 'application/json', `${JSON.stringify(value, null, 2)}\n`);
}

export function redirect(location: string, status = 302): Reply {
  return { status, headers: { location }, body: Buffer.alloc(0) };
}

/** Writes the connection by hand. */
export function raw(write: (wire: Wire) => void): RawAnswer {
  return { write };
}

/** The number in a path segment, or null when it is not a plain number within the bound. */
export function numberIn(segment: string | undefined, most: number): number | null {
  if (segment === undefined || !/^\d{1,9}$/.test(segment)) return null;
  const value = Number(segment);
  return value <= most ? value : null;
}

/** The path after a family's prefix, cut at its slashes. */
export function segmentsOf(request: SiteRequest, family: string): readonly string[] {
  return request.path.slice(family.length).split('/');
}

/** A table's own entry: paths such as `/slow/constructor` must not reach what objects inherit. */
export function pageIn<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
