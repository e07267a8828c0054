import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openPlatform, type Platform } from '../../test/property/api-platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await openPlatform();
});
afterAll(() => platform.close());

describe('answers', () => {
  it.each(['/v1/account', '/healthz', '/openapi.json', '/docs/', '/nothing-here'])(
    'of %s tell browsers what they may do with them, and nothing of the server',
    async (url) => {
      const { headers } = await platform.call({ url });
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['content-security-policy']).toContain("default-src 'none'");
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['referrer-policy']).toBe('no-referrer');
      expect(headers['content-type']).toMatch(/charset=utf-8/i);
      expect(headers['x-powered-by']).toBeUndefined();
      expect(headers.server).toBeUndefined();
    },
  );

  it('never list a folder', async () => {
    for (const url of ['/docs/js/', '/docs/js', '/v1/', '/docs/%2e%2e/%2e%2e/package.json']) {
      expect((await platform.call({ url })).statusCode).toBe(404);
    }
  });
});

describe('requests', () => {
  it.each(['/v1/jobs?limit=1&limit=2', '/v1/jobs?unknown=1', '/v1/audit?__proto__=1'])(
    'with repeated or unknown parameters are refused: %s',
    async (url) => {
      const answer = await platform.call({ url });
      expect([answer.statusCode, answer.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
    },
  );

  it('with unknown fields are refused', async () => {
    const payload = { name: 'x', isAdmin: true };
    const answer = await platform.call({ method: 'POST', url: '/v1/keys', payload });
    expect([answer.statusCode, answer.at('error.code')]).toEqual([422, 'VALIDATION_FAILED']);
  });

  it('that are refused leave a log line with the reason', async () => {
    const made = await platform.call({
      method: 'POST',
      url: '/v1/keys',
      payload: { name: 'r', scopes: ['read'] },
    });
    const headers = { 'x-api-key': made.at('data.secret') as string };
    expect((await platform.api.inject({ url: '/v1/keys', headers })).statusCode).toBe(403);
    const line = platform.lines.find((each) => each.includes('"status":403'));
    expect(line).toContain('"FORBIDDEN"');
  });
});
