import { describe, expect, it } from 'vitest';
import { invalidRequest } from '../../../capabilities/jobs/request/invalid-request.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { withClientFields } from './client-fields.ts';

const message = 'It is wrong.';
const told = (field: string, path: string, body: object) => {
  const error = withClientFields(invalidRequest([{ field, message }]), { path, body });
  return [(error.details as { field: string }[])[0]?.field, error.message];
};

describe('an error names the field that the client has sent', () => {
  it.each([
    ['maxPages', '/v2/crawl', {}, 'limit'],
    ['options.timeoutMs', '/v2/crawl', {}, 'scrapeOptions.timeout'],
    ['options.timeoutMs', '/v2/batch/scrape', {}, 'timeout'],
    ['timeoutMs', '/v2/scrape', {}, 'timeout'],
    ['extract.llm', '/v2/scrape', {}, 'formats'],
    ['extract.llm', '/v2/extract', {}, 'schema'],
    ['scrapeOptions.timeout', '/v2/crawl', {}, 'scrapeOptions.timeout'],
    ['include', '/v2/crawl', { include: [] }, 'include'],
  ])('%s of %s', (field, path, body, named) => {
    expect(told(field, path, body)).toEqual([named, `${named}: ${message}`]);
  });

  it('and says what is wrong with an expression as the client has written it', () => {
    const [field, text] = told('include.0', '/v2/crawl', { includePaths: ['('] });
    expect(field).toBe('includePaths.0');
    expect(text).toMatch(/^includePaths\.0: /);
    expect(text).not.toContain('a-z');
    expect(text).not.toContain(message);
  });

  it('and an error without fields stays as it is', () => {
    const error = new ScrapifieError('NOT_FOUND', message);
    expect(withClientFields(error, { path: '/v2/crawl', body: null })).toBe(error);
  });
});
