import { hash } from 'node:crypto';
import { addressAt } from '../../site/hosts.ts';
import { type NetSize, netUrl, renderNetPage } from '../../site/pages/net.ts';
import { titleOf } from '../../site/prose.ts';
import type { JobRecord, Wanted } from './history.ts';

/** A job to be: what is asked for, and what has to come of it. */
export interface JobPlan extends Pick<JobRecord, 'name' | 'sort' | 'ownPath' | 'wanted' | 'isOpenEnded'> {
  readonly path: '/v1/crawl' | '/v1/batch';
  readonly body: Readonly<Record<string, unknown>>;
  /** Cancelled when it has so many pages, left alone for a while, and resumed. */
  readonly cancelsAt: number | null;
  /** Whether URLs that fail are tried again by `retry` until none fails. */
  readonly isRetried: boolean;
  /** Deleted as soon as it has been read, while the run goes on; otherwise at the end of the run. */
  readonly isDeletedEarly: boolean;
}

const COURSE = { cancelsAt: null, isRetried: false, isDeletedEarly: false, isOpenEnded: false } as const;
const RAW = { formats: ['rawHtml'] };

/** Hosts that only these pages are on: what they do must not open the breakers of the others. */
const RENDER_HOSTS = [600, 601, 602, 603, 604, 605];
const FAILING_HOST = 800;
const FAILING_HOSTS = 1_000;
const HOSTILE_HOST = 630;
export const RESETTING_HOST = 640;
export const DRIPPING_HOST = 650;
/** Each has a range of hosts of its own, so that one job's trouble is not the next one's. */
const RANGE = 10;

const hostUrl = (host: number, port: number) => `http://${addressAt(host)}:${port}`;

function wantedNet(size: NetSize, port: number): Record<string, Wanted> {
  const wanted: Record<string, Wanted> = {};
  for (let host = 0; host < size.hosts; host++) {
    for (let page = 0; page < size.pagesPerHost; page++) {
      wanted[netUrl(size, { host, page }, port)] = {
        hash: hash('sha256', renderNetPage(size, { host, page }, port)),
      };
    }
  }
  return wanted;
}

const netPath = ({ hosts, pagesPerHost }: NetSize) => `/net/${hosts}x${pagesPerHost}/`;

/** Every page of a web over many hosts. No two jobs have a web of the same size, and so no URL in common. */
export function crawlPlan(
  name: string,
  size: NetSize,
  port: number,
  course: Partial<Pick<JobPlan, 'cancelsAt' | 'isDeletedEarly'>> = {},
): JobPlan {
  const urls = Array.from({ length: size.hosts }, (_, host) => netUrl(size, { host, page: 0 }, port));
  return {
    ...{ name, sort: 'crawl', path: '/v1/crawl', ...COURSE, ...course },
    body: { urls, maxPages: null, sitemap: 'skip', options: RAW },
    ownPath: netPath(size),
    wanted: wantedNet(size, port),
  };
}

/** All pages of such a web, given one by one. */
export function batchPlan(
  name: string,
  size: NetSize,
  port: number,
  course: Partial<Pick<JobPlan, 'cancelsAt' | 'isDeletedEarly'>> = {},
): JobPlan {
  const wanted = wantedNet(size, port);
  return {
    ...{ name, sort: 'batch', path: '/v1/batch', ...COURSE, ...course, ownPath: netPath(size), wanted },
    body: { urls: Object.keys(wanted), options: RAW },
  };
}

/** Pages shown by a browser. What it writes down as their source is not what was sent, so the title is looked at. */
export function renderPlan(name: string, count: number, first: number, port: number): JobPlan {
  const wanted: Record<string, Wanted> = {};
  for (let at = 0; at < count; at++) {
    const host = RENDER_HOSTS[at % RENDER_HOSTS.length] ?? 0;
    const page = (first + at) % 10_000;
    wanted[`${hostUrl(host, port)}/js/static/${page}?${name}`] = { title: titleOf(page) };
  }
  return {
    ...{ name, sort: 'render', path: '/v1/batch', ...COURSE, isRetried: true, ownPath: null, wanted },
    body: { urls: Object.keys(wanted), options: { ...RAW, engine: 'browser', timeoutMs: 15_000 } },
  };
}

/** Pages that answer 500 and then recover; one attempt each, so that `retry` has something to do. */
export function retryPlan(name: string, at: number, count: number, port: number): JobPlan {
  const wanted: Record<string, Wanted> = {};
  for (let page = 0; page < count; page++) {
    // A host that fails is left alone for longer and longer: each fails for one page of one job only.
    const host = FAILING_HOST + ((at * count + page) % FAILING_HOSTS);
    wanted[`${hostUrl(host, port)}/again/500/none/${1 + (page % 2)}?${name}`] = { title: 'Recovered' };
  }
  return {
    ...{ name, sort: 'retry', path: '/v1/batch', ...COURSE, isRetried: true, ownPath: null, wanted },
    body: { urls: Object.keys(wanted), options: { ...RAW, maxAttempts: 1 } },
  };
}

/**
 * A web whose pages are whole and whose links, titles and headers are meant to break what stores them. Its pages have to
 * be there; where its links lead is not of interest.
 */
export function poisonPlan(name: string, at: number, port: number, pages: number): JobPlan {
  const origin = hostUrl(HOSTILE_HOST + (at % RANGE), port);
  const wanted: Record<string, Wanted> = {};
  for (let page = 0; page < pages; page++)
    wanted[`${origin}/hostile/${name}/${page}`] = { title: `Page ${page}` };
  const urls = [`${origin}/hostile/${name}/0`];
  return {
    ...{ name, sort: 'hostile', path: '/v1/crawl', ...COURSE, isOpenEnded: true, ownPath: null, wanted },
    body: { urls, maxPages: 200, sitemap: 'skip', allowExternal: true, options: { ...RAW, maxAttempts: 1 } },
  };
}

const BROKEN_OFF = ['CONNECTION_RESET', 'PROTOCOL_ERROR', 'CIRCUIT_OPEN'];
const TOO_SLOW = ['BODY_TIMEOUT', 'HEADERS_TIMEOUT', 'TASK_TIMEOUT', 'CIRCUIT_OPEN'];

/** A host that resets every connection, beside pages of the same job that are well. */
export function resetPlan(name: string, at: number, port: number, count: number): JobPlan {
  const origin = hostUrl(RESETTING_HOST + (at % RANGE), port);
  return brokenPlan(name, `${origin}/protocol/resets-at-once`, BROKEN_OFF, count);
}

/** A host that sends a byte now and then, for ever. */
export function dripPlan(name: string, at: number, port: number, count: number): JobPlan {
  const origin = hostUrl(DRIPPING_HOST + (at % RANGE), port);
  return brokenPlan(name, `${origin}/slow/endless-drip`, TOO_SLOW, count);
}

function brokenPlan(name: string, url: string, codes: readonly string[], count: number): JobPlan {
  const wanted = Object.fromEntries(
    Array.from({ length: count }, (_, at) => [`${url}?${name}-${at}`, { codes }] as const),
  );
  return {
    ...{ name, sort: 'hostile', path: '/v1/batch', ...COURSE, ownPath: null, wanted },
    body: { urls: Object.keys(wanted), options: { ...RAW, timeoutMs: 2_000, maxAttempts: 1 } },
  };
}

/** Hosts whose pages never end. */
export const endlessHosts = (port: number): string[] =>
  Array.from({ length: RANGE }, (_, at) => new URL(hostUrl(DRIPPING_HOST + at, port)).host);
