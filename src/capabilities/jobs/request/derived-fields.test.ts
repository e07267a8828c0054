import { describe, expect, it } from 'vitest';
import { crawlRequestSchema, derivedOptionsOf } from './job-request.ts';

describe('what a job leaves besides its pages', () => {
  it('is nothing unless it is asked for', () => {
    const request = crawlRequestSchema.parse({ urls: ['https://example.com/'] });
    expect(request).toMatchObject({ snapshots: false, search: false, lake: false, exports: [] });
    expect(derivedOptionsOf(request)).toEqual({});
  });

  it('has exports of known types and formats only', () => {
    const exports = [{ type: 'full', format: 'doc' }];
    expect(crawlRequestSchema.safeParse({ urls: ['https://example.com/'], exports }).success).toBe(false);
  });
});
