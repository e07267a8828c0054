import { expect, test } from 'vitest';
import { addressAt, indexOfHost } from '../hosts.ts';
import { type NetPage, netLinks, netUrl, renderNetPage } from './net.ts';

const SIZE = { hosts: 7, pagesPerHost: 40 };
const nameOf = ({ host, page }: NetPage) => `${host}/${page}`;

test('the address of every nameless host leads back to its number', () => {
  for (const index of [0, 1, 249, 250, 499, 500, 63_749]) {
    expect(indexOfHost(`${addressAt(index)}:8080`)).toBe(index);
  }
  for (const host of ['127.0.0.1', '127.0.1.1', '127.0.0.255', 'localhost', '127.0.2.251', '10.0.0.2']) {
    expect(indexOfHost(host)).toBeNull();
  }
});

test('every page of every host is found from the first pages', () => {
  const found = new Set<string>();
  const open = Array.from({ length: SIZE.hosts }, (_, host): NetPage => ({ host, page: 0 }));
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (found.has(nameOf(next))) continue;
    found.add(nameOf(next));
    open.push(...netLinks(SIZE, next));
  }
  expect(found.size).toBe(SIZE.hosts * SIZE.pagesPerHost);
});

test('no two pages are the same, and a page names its neighbours with their addresses', () => {
  const pages = Array.from({ length: SIZE.hosts }, (_, host) =>
    Array.from({ length: SIZE.pagesPerHost }, (_, page) => renderNetPage(SIZE, { host, page }, 80)),
  ).flat();
  expect(new Set(pages).size).toBe(SIZE.hosts * SIZE.pagesPerHost);
  expect(pages[0]).toContain(netUrl(SIZE, { host: 1, page: 2 }, 80));
});
