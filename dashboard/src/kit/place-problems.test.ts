import { describe, expect, it } from 'vitest';
import { placeProblems } from './place-problems.ts';

const problem = (field: string) => ({ field, message: `${field} is wrong` });

describe('placing the problems of an answer at the fields of a form', () => {
  it('finds the field of the same path, or the nearest one above it', () => {
    const values = { urls: 'a\nb', limits: { pages: '10' } };
    expect(placeProblems([problem('urls.3'), problem('limits.pages')], values).placed).toEqual([
      { name: 'urls', message: 'urls.3 is wrong' },
      { name: 'limits.pages', message: 'limits.pages is wrong' },
    ]);
  });

  it('takes the name that the form uses for a value of the request', () => {
    const { placed } = placeProblems(
      [problem('scrape.timeoutMs')],
      { timeout: '' },
      { 'scrape.timeoutMs': 'timeout' },
    );
    expect(placed).toEqual([{ name: 'timeout', message: 'scrape.timeoutMs is wrong' }]);
  });

  it('shows one problem a field, and keeps those that no field shows', () => {
    const { placed, rest } = placeProblems([problem('urls.0'), problem('urls.1'), problem('other')], {
      urls: '',
    });
    expect(placed).toHaveLength(1);
    expect(rest).toEqual([problem('other')]);
  });
});
