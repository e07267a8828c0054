import { describe, expect, it } from 'vitest';
import { columnOf, conditionOf, groupOf } from './query.ts';

describe('--where', () => {
  it.each([
    ['statusCode>=400', { field: 'statusCode', op: 'gte', value: 400 }],
    ['statusCode = 404,410', { field: 'statusCode', op: 'in', value: [404, 410] }],
    ['host!=a.test,b.test', { field: 'host', op: 'notIn', value: ['a.test', 'b.test'] }],
    ['title~a=b', { field: 'title', op: 'contains', value: 'a=b' }],
    ['title~=Price', { field: 'title', op: 'icontains', value: 'Price' }],
    ['url^=https://a.test/', { field: 'url', op: 'startsWith', value: 'https://a.test/' }],
    ['url$=.pdf', { field: 'url', op: 'endsWith', value: '.pdf' }],
    ['title="404, not found"', { field: 'title', op: 'eq', value: '404, not found' }],
    ['isInternal=false', { field: 'isInternal', op: 'eq', value: false }],
    ['data.offer.price<19.5', { field: 'data.offer.price', op: 'lt', value: 19.5 }],
    ['errorCode is null', { field: 'errorCode', op: 'isNull' }],
    ['title IS NOT NULL', { field: 'title', op: 'isNotNull' }],
    ['fetchedAt>2026-01-31', { field: 'fetchedAt', op: 'gt', value: '2026-01-31' }],
    ['{"or":[{"field":"url","value":"a"}]}', { or: [{ field: 'url', value: 'a' }] }],
  ])('%s', (text, condition) => {
    expect(conditionOf(text)).toEqual(condition);
  });

  it.each(['statusCode', 'title like a', '=3', '{', 'title="a'])('refuses %s', (text) => {
    expect(() => conditionOf(text)).toThrow();
  });
});

it('columns and groups are written with colons', () => {
  expect(columnOf('count')).toEqual({ fn: 'count' });
  expect(columnOf('sum:bytes=total')).toEqual({ fn: 'sum', field: 'bytes', as: 'total' });
  expect(columnOf('url')).toBe('url');
  expect(groupOf('fetchedAt:day')).toEqual({ field: 'fetchedAt', by: 'day' });
  expect(groupOf('host')).toBe('host');
});
