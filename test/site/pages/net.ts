import { setTimeout as delay } from 'node:timers/promises';
import type { Answer, Family, SiteRequest } from '../exchange.ts';
import { html, numberIn, segmentsOf } from '../exchange.ts';
import { addressAt, indexOfHost } from '../hosts.ts';
import { documentOf, linkList } from '../layout.ts';
import { paragraph, titleOf } from '../prose.ts';
import { randomFrom, seedOf } from '../random.ts';

/**
 * A web over many hosts: `/net/200x100/7` is page 7 of one of the first 200 nameless hosts, which have 100 pages each.
 * Half of a host's pages are found on the host before it and nowhere else, so that hosts give each other work all the
 * time. Every page is different, and takes a while to answer.
 */
export interface NetSize {
  readonly hosts: number;
  readonly pagesPerHost: number;
}

export interface NetPage {
  readonly host: number;
  readonly page: number;
}

const PREFIX = '/net/';
const MOST_HOSTS = 60_000;
const MOST_PAGES = 1_000_000;
const OTHER_LINKS = 4;
const SLOWEST_MS = 900;

export function netUrl({ hosts, pagesPerHost }: NetSize, { host, page }: NetPage, port: number): string {
  return `http://${addressAt(host)}:${port}${PREFIX}${hosts}x${pagesPerHost}/${page}`;
}

/** The two pages that this one alone leads to, the second on the next host; and some that others lead to as well. */
export function netLinks(size: NetSize, { host, page }: NetPage): readonly NetPage[] {
  const { hosts, pagesPerHost } = size;
  const children = [
    { host, page: 2 * page + 1 },
    { host: (host + 1) % hosts, page: 2 * page + 2 },
  ];
  const random = randomFrom(seedOf(`links ${host} ${page}`));
  const others = Array.from({ length: OTHER_LINKS }, () => ({
    host: Math.floor(random() * hosts),
    // Near the seeds: these links find pages that are known, and change the way to none.
    page: Math.floor((random() * page) / 2),
  }));
  return [...children.filter((child) => child.page < pagesPerHost), ...others];
}

export function renderNetPage(size: NetSize, at: NetPage, port: number): string {
  const random = randomFrom(seedOf(`text ${at.host} ${at.page}`));
  const links = netLinks(size, at).map((target) => netUrl(size, target, port));
  return documentOf({
    title: `${titleOf(at.page)} of host ${at.host}`,
    body: `<p>${paragraph(random, 900)}</p>\n${linkList(links)}\n<p>${paragraph(random, 900)}</p>`,
  });
}

async function answer(request: SiteRequest): Promise<Answer | null> {
  const [sizes = '', number, ...rest] = segmentsOf(request, PREFIX);
  const [hosts, pagesPerHost, ...more] = sizes.split('x').map((part) => numberIn(part, MOST_PAGES));
  if (!hosts || !pagesPerHost || hosts > MOST_HOSTS || more.length > 0 || rest.length > 0) return null;
  const page = numberIn(number, pagesPerHost - 1);
  const host = indexOfHost(request.host);
  if (page === null || host === null || host >= hosts) return null;
  const random = randomFrom(seedOf(`delay ${host} ${page}`));
  await delay(random() * SLOWEST_MS);
  return html(renderNetPage({ hosts, pagesPerHost }, { host, page }, request.port));
}

export const net: Family = {
  prefix: PREFIX,
  about: 'a web over many hosts that lead to each other; see its source',
  starts: [],
  answer,
};
