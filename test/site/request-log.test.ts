import { expect, test } from 'vitest';
import { createRequestLog } from './request-log.ts';

test('the full log keeps the newest entries up to its limit and says how many it dropped', () => {
  const log = createRequestLog('full', 10);
  for (let at = 0; at < 57; at++) log.record(at, 'h', `/${at}`, 'GET', {});
  expect(log.entries().map(({ path }) => path)).toEqual(Array.from({ length: 10 }, (_, at) => `/${47 + at}`));
  expect(log.entries(55).map(({ seq }) => seq)).toEqual([55, 56]);
  expect(log.entries(57)).toEqual([]);
  expect(log.dropped()).toBe(47);
});

test('counts are per URL, and URLs beyond the limit are counted together', () => {
  const log = createRequestLog('counts', 2);
  for (const path of ['/a', '/b', '/a', '/c', '/d']) log.record(0, 'h', path, 'GET', {});
  expect(log.counts()).toEqual({ total: 5, uncounted: 2, urls: { 'http://h/a': 2, 'http://h/b': 1 } });
  expect(log.entries()).toEqual([]);
  log.reset();
  expect(log.counts()).toEqual({ total: 0, uncounted: 0, urls: {} });
});

test('an entry says how many requests of its host were under way', () => {
  const log = createRequestLog('full', 10);
  const first = log.record(0, 'a', '/1', 'GET', {});
  log.record(0, 'a', '/2', 'GET', {});
  log.record(0, 'b', '/3', 'GET', {});
  first();
  log.record(0, 'a', '/4', 'GET', {});
  expect(log.entries().map(({ inFlight }) => inFlight)).toEqual([1, 2, 1, 2]);
});

test('a log that is off keeps nothing', () => {
  const log = createRequestLog('off', 10);
  log.record(0, 'h', '/a', 'GET', {});
  expect(log.total()).toBe(0);
  expect(log.countOf('h', '/a')).toBe(0);
});
