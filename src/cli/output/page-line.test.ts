import { zstdCompressSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ContentHash, JobSeq, TaskId } from '../../core/model/ids.ts';
import type { Page, RenderedRecord } from '../../core/model/page.ts';
import { unpackRecord } from '../../core/model/page-record.ts';
import { pageLine, shownPageLine } from './page-line.ts';

const page = (more: Partial<Page>): Page => ({
  taskId: 1 as TaskId,
  jobSeq: 1 as JobSeq,
  url: 'http://a.example/',
  finalUrl: 'http://a.example/',
  statusCode: 200,
  contentType: 'text/html',
  charset: 'utf-8',
  fetchedAt: 0,
  depth: 0,
  contentHash: null,
  textHash: null,
  bytes: 3,
  title: null,
  etag: null,
  lastModified: null,
  duplicateOf: null,
  errorCode: null,
  errorMessage: null,
  record: null,
  ...more,
});
const lineOf = (each: Page, rawHtml?: string | null) =>
  Buffer.concat(pageLine(each, rawHtml, each.record === null ? null : unpackRecord(each.record))).toString(
    'utf8',
  );

describe('the line of a page', () => {
  it('is one line of JSON with the record in it, whatever the page holds', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.string({ unit: 'binary' }),
        fc.jsonValue(),
        (title, html, meta) => {
          const record = { metadata: { meta }, links: [{ url: html }] };
          const stored = zstdCompressSync(JSON.stringify(record));
          const line = lineOf(page({ title, record: stored }), html);
          expect(line.indexOf('\n')).toBe(line.length - 1);
          expect(JSON.parse(line)).toMatchObject(
            JSON.parse(JSON.stringify({ title, rawHtml: html, ...record })),
          );
        },
      ),
    );
  });

  it('has the reason of a failure, and empty fields where nothing arrived', () => {
    const line = lineOf(page({ statusCode: null, errorCode: 'DNS_FAILED', errorMessage: 'no such host' }));
    expect(JSON.parse(line)).toMatchObject({
      statusCode: null,
      fetchedAt: '1970-01-01T00:00:00.000Z',
      error: { code: 'DNS_FAILED', message: 'no such host' },
      metadata: null,
      links: [],
    });
    expect(JSON.parse(line)).not.toHaveProperty('rawHtml');
  });

  it('of a page that a browser has shown names the files, and nothing of where bytes are kept', () => {
    const ref = { contentHash: 'ab'.repeat(32) as ContentHash, contentType: 'image/png', bytes: 9 };
    const rendered: RenderedRecord = {
      screenshot: ref,
      xhr: [
        { url: 'http://a.example/api', method: 'GET', statusCode: 200, contentType: null, isTooLarge: false },
      ],
      actions: [{ type: 'screenshot', ms: 4, picture: ref }],
      failure: { code: 'ACTION_FAILED', message: 'actions.1 click #x: gone', step: 'actions.1 click #x' },
    };
    const file = { file: 'artifacts/x.png', contentType: 'image/png', bytes: 9 };
    const files = new Map([
      ['screenshot', file],
      ['action-0', file],
    ]);
    const failed = page({ errorCode: 'ACTION_FAILED', errorMessage: 'actions.1 click #x: gone' });
    const record = { rendered, metadata: null, links: [], text: 'words' };
    const line = Buffer.concat(shownPageLine(failed, undefined, record, files)).toString('utf8');
    expect(line.indexOf('\n')).toBe(line.length - 1);
    expect(JSON.parse(line)).toMatchObject({
      screenshot: file,
      xhr: [{ url: 'http://a.example/api' }],
      actions: [{ type: 'screenshot', ms: 4, screenshot: file }],
      consoleErrors: [],
      error: { code: 'ACTION_FAILED', details: { step: 'actions.1 click #x' } },
      text: 'words',
    });
    expect(line).not.toContain('rendered');
    expect(line).not.toContain(ref.contentHash);
  });
});
