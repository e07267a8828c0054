import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { Format } from '../../core/model/job.ts';
import type { RenderExtra } from '../../core/model/render.ts';
import type { RenderedPage } from './page-reading.ts';
import { requestFor } from './read-request.fixture.ts';
import { copiedRenderedPage, keepRendering, renderedBuffers } from './rendered-page.ts';

const bytes = (text: string) => new TextEncoder().encode(text);
const sha256 = (data: Uint8Array) => createHash('sha256').update(data).digest('hex');
const NOTHING: RenderExtra = {
  screenshot: null,
  pdf: null,
  xhr: [],
  consoleErrors: [],
  actions: [],
  storage: null,
};

function kept(
  shown: Partial<Omit<RenderedPage, 'extra'>> & { extra?: Partial<RenderExtra> },
  ...formats: Format[]
) {
  const rendered: RenderedPage = {
    rawBody: null,
    failure: null,
    ...shown,
    extra: { ...NOTHING, ...shown.extra },
  };
  const request = requestFor({ page: { formats }, response: { rendered } });
  const result = keepRendering(request);
  if (result === null) throw new Error('nothing was kept');
  return { ...result, hashes: result.blobs.map(({ hash }) => hash) };
}

describe('what is kept of a shown page', () => {
  it('is nothing for one that was not shown', () => {
    expect(keepRendering(requestFor())).toBeNull();
  });

  it('is what was asked for and no more', () => {
    const extra = {
      screenshot: { bytes: bytes('png'), contentType: 'image/png' as const },
      pdf: bytes('pdf'),
      xhr: [
        {
          url: 'http://site.test/x',
          method: 'GET',
          statusCode: 200,
          contentType: null,
          body: null,
          isTooLarge: true,
        },
      ],
    };
    expect(kept({ extra }, 'text').record).toEqual({});
    expect(kept({ extra }, 'text').blobs).toEqual([]);
    const { record, hashes } = kept({ extra }, 'screenshot', 'pdf', 'xhr');
    expect(hashes).toEqual([sha256(bytes('png')), sha256(bytes('pdf'))]);
    expect(record).toEqual({
      screenshot: { contentHash: hashes[0], contentType: 'image/png', bytes: 3 },
      pdf: { contentHash: hashes[1], contentType: 'application/pdf', bytes: 3 },
      xhr: [
        { url: 'http://site.test/x', method: 'GET', statusCode: 200, contentType: null, isTooLarge: true },
      ],
    });
  });

  it('has what the actions came to and what went wrong in any case', () => {
    const picture = { bytes: bytes('jpg'), contentType: 'image/jpeg' as const };
    const actions = [
      { type: 'evaluate' as const, ms: 1.6, value: { n: 1 } },
      { type: 'screenshot' as const, ms: 20, picture },
    ];
    const failure = new ScrapifieError('ACTION_FAILED', 'actions.2 click #x: gone', {
      details: { step: 'actions.2 click #x' },
      cause: new Error('deep'),
    });
    const { record, hashes } = kept({ extra: { actions, consoleErrors: ['oh'] }, failure }, 'text');
    expect(record).toEqual({
      actions: [
        { type: 'evaluate', ms: 2, value: { n: 1 } },
        {
          type: 'screenshot',
          ms: 20,
          picture: { contentHash: hashes[0], contentType: 'image/jpeg', bytes: 3 },
        },
      ],
      consoleErrors: ['oh'],
      failure: {
        code: 'ACTION_FAILED',
        message: 'actions.2 click #x: gone',
        step: 'actions.2 click #x',
        html: expect.objectContaining({ contentType: expect.stringContaining('text/html') }),
      },
    });
  });

  it('shows the page at the moment when a step failed: its picture, and its HTML, which is its body', () => {
    const failurePicture = { bytes: bytes('png'), contentType: 'image/png' as const };
    const failure = new ScrapifieError('ACTION_FAILED', 'actions.0 click #x: gone', {
      details: { step: 'actions.0 click #x' },
    });
    const rendered: RenderedPage = { rawBody: null, failure, extra: { ...NOTHING, failurePicture } };
    const body = '<p>as it was then';
    const kept = keepRendering(requestFor({ body, response: { rendered } }));
    expect(kept?.record.failure).toMatchObject({
      screenshot: { contentHash: sha256(bytes('png')), contentType: 'image/png', bytes: 3 },
      html: { contentHash: sha256(bytes(body)), bytes: body.length },
    });
    // The body is stored as the page's own.
    expect(kept?.blobs.map(({ hash }) => hash)).toEqual([sha256(bytes('png'))]);
    const copied = copiedRenderedPage(rendered);
    expect(copied.extra.failurePicture?.bytes).toEqual(bytes('png'));
    expect(renderedBuffers(copied)).toHaveLength(1);
  });

  it('puts short texts into the record and everything else beside it', () => {
    const exchange = { url: 'http://site.test/api', method: 'POST', statusCode: 200, isTooLarge: false };
    const long = bytes(`"${'x'.repeat(20_000)}"`);
    const xhr = [
      { ...exchange, contentType: 'application/json', body: bytes('{"a":"é"}') },
      { ...exchange, contentType: 'text/plain; charset=iso-8859-1', body: new Uint8Array([0xe9]) },
      { ...exchange, contentType: 'application/json', body: long },
      { ...exchange, contentType: 'image/png', body: bytes('png') },
      { ...exchange, contentType: null, body: new Uint8Array([0xff, 0xfe, 0xfd]) },
    ];
    const { record, hashes } = kept({ extra: { xhr } }, 'xhr');
    expect(record.xhr?.map(({ text, body }) => text ?? body?.contentHash)).toEqual([
      '{"a":"é"}',
      'é',
      ...hashes,
    ]);
    expect(hashes).toHaveLength(3);
  });

  it('has the document as it was sent, in its own encoding', () => {
    const headers = { 'content-type': 'text/html; charset=windows-1252' };
    const raw = (rawBody: Uint8Array<ArrayBuffer> | null) => {
      const rendered: RenderedPage = { rawBody, failure: null, extra: NOTHING };
      return keepRendering(requestFor({ page: { formats: ['rawHtml'] }, response: { rendered, headers } }))
        ?.record.raw;
    };
    const latin = new Uint8Array([0x3c, 0x70, 0x3e, 0xe9]);
    expect(raw(latin)).toEqual({ contentHash: sha256(latin), charset: 'windows-1252' });
    // As a browser hands it over: read already.
    expect(raw(bytes('<p>é'))).toMatchObject({ charset: 'utf-8' });
    expect(raw(null)).toBeNull();
    expect(kept({ rawBody: bytes('<p>') }, 'html').record).toEqual({});
    const json = { rawBody: null, failure: null, extra: NOTHING };
    const request = requestFor({
      page: { formats: ['rawHtml'] },
      response: { rendered: json, contentType: 'application/json' },
    });
    expect(keepRendering(request)?.record).toEqual({});
  });
});
