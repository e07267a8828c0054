import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';
import type { JobId } from '../core/model/ids.ts';

const HOSTILE = `<html><head><base href="https://x.example/"><meta http-equiv="refresh" content="0;url=https://x.example/">
  <script>top.location = 'https://x.example/'</script></head><body onload="alert(1)"><h1>Hat</h1>
  <form action="https://x.example/"><input name="password"></form><iframe src="https://x.example/"></iframe>
  <a href="https://x.example/" target="_top">out</a><img src="https://x.example/spy.png" onerror="alert(1)"></body></html>`;

let platform: Platform;
let jobId: string;
let pageIds: string[];
beforeAll(async () => {
  platform = await openPlatform();
  await platform.work(({ url }) => ({
    end: { state: 'done', rule: null },
    statusCode: 200,
    ...(url.includes('bodiless') ? {} : { body: HOSTILE }),
  }));
  const payload = { urls: ['https://shop.test/hat', 'https://shop.test/bodiless'], snapshots: true };
  const made = await platform.call({ method: 'POST', url: '/v1/batch', payload });
  jobId = String(made.at('data.id'));
  await platform.jobs.waitFor(jobId as JobId, 20_000);
  await platform.readSnapshots();
  const { items } = await platform.store.listPages({ jobId: jobId as JobId, limit: 10 });
  const idOf = (path: string) => String(items.find(({ url }) => url.endsWith(path))?.taskId);
  pageIds = [idOf('hat'), idOf('bodiless')];
});
afterAll(() => platform.close());

const get = (url: string) => platform.call({ url });

describe('the preview of a stored page', () => {
  const expectHarmless = (answer: Awaited<ReturnType<typeof get>>) => {
    expect(answer.statusCode).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.payload).toContain('<h1>Hat</h1>');
    expect(answer.payload).not.toMatch(
      /<(?:script|base|meta http|form|iframe)|onload|onerror|target|href|src=/,
    );
    expect(answer.headers['content-security-policy']).toBe(
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; font-src data:; frame-ancestors 'self'",
    );
    expect(answer.headers['x-content-type-options']).toBe('nosniff');
    expect(answer.headers['cross-origin-resource-policy']).toBe('same-origin');
    expect(answer.headers['x-frame-options']).toBe('SAMEORIGIN');
    expect(answer.headers['cache-control']).toContain('no-store');
  };

  it('has nothing that a browser would run, send or ask for, and may be framed by the dashboard alone', async () => {
    expectHarmless(await get(`/v1/jobs/${jobId}/pages/${pageIds[0]}/preview`));
  });

  it('is the same of a snapshot', async () => {
    const listed = await get(`/v1/pages?url=${encodeURIComponent('https://shop.test/hat')}`);
    expectHarmless(await get(`/v1/snapshots/${listed.at('data.items.0.id')}/preview`));
  });

  it('is not found where no HTML is kept, and for pages of other jobs and none', async () => {
    for (const url of [
      `/v1/jobs/${jobId}/pages/${pageIds[1]}/preview`,
      `/v1/jobs/${jobId}/pages/999999/preview`,
      `/v1/jobs/${jobId}/pages/x/preview`,
      `/v1/jobs/unknown/pages/${pageIds[0]}/preview`,
      '/v1/snapshots/unknown/preview',
    ]) {
      const answer = await get(url);
      expect([url, answer.statusCode, answer.at('error.code')]).toEqual([url, 404, 'NOT_FOUND']);
    }
  });
});
