import { describe, expect, it } from 'vitest';
import { redactText, redactUrl } from './redact.ts';

describe('a URL that is shown', () => {
  it.each([
    ['https://user:pa:ss@w0rd@host.example/x', 'https://[redacted]@host.example/x'],
    ['http://token@proxy.example:8080', 'http://[redacted]@proxy.example:8080'],
    ['https://h.example/?a=1&api_key=s3cret&b=2', 'https://h.example/?a=1&api_key=[redacted]&b=2'],
    ['https://h.example/#access_token=s3cret', 'https://h.example/#access_token=[redacted]'],
    ['/v1/x?key=s3cret&code=abc', '/v1/x?key=[redacted]&code=[redacted]'],
    [
      'https://h.example/?to=https://u:p@x/?token=a',
      'https://h.example/?to=https://[redacted]@x/?token=[redacted]',
    ],
    [
      'https://h.example/?to=https%3A%2F%2Fu%3Ap%40x%2F%3Ftoken%3Da%26b%3D1&c=2',
      'https://h.example/?to=https%3A%2F%2F[redacted]%40x%2F%3Ftoken%3D[redacted]%26b%3D1&c=2',
    ],
    ['https://h.example/?email=ann%40example.org', 'https://h.example/?email=[redacted]'],
    ['https://hooks.slack.com/services/T0/B0/s3cret', 'https://hooks.slack.com/services/[redacted]'],
    [
      'https://discord.com/api/webhooks/12/s3cret?wait=1',
      'https://discord.com/api/webhooks/[redacted]?wait=1',
    ],
    ['https://api.telegram.org/bot12:s3cret/sendMessage', 'https://api.telegram.org/[redacted]'],
    ['https://x.webhook.office.com/webhookb2/a@b/c', 'https://x.webhook.office.com/webhookb2/[redacted]'],
    ['https://h.example/ann.b+c@example.org/x', 'https://h.example/[redacted]/x'],
  ])('%s becomes %s', (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });

  it.each([
    'https://h.example/keyboard?page=2&sort=key',
    'https://h.example:8080/a/b;c=d?e=f#g',
    'https://h.example/@name/status',
    'https://monkey.example/passage',
  ])('%s stays', (url) => {
    expect(redactUrl(url)).toBe(url);
  });
});

describe('a sentence that is logged', () => {
  it.each([
    ['Authorization: Basic dXNlcjpwYXNz more', 'Authorization: [redacted]'],
    ['sent Bearer abc.def-ghi to it', 'sent Bearer [redacted] to it'],
    ['Cookie: a=b; c=d\nHost: x', 'Cookie: [redacted]\nHost: x'],
    ['{"password":"a \'b","x":1}', '{"password":"[redacted]","x":1}'],
    ['proxy user:secret@10.0.0.1:8080 refused', 'proxy [redacted]@10.0.0.1:8080 refused'],
    ['mail to ann@example.org failed', 'mail to [redacted] failed'],
  ])('%s becomes %s', (text, shown) => {
    expect(redactText(text)).toBe(shown);
  });

  it.each([
    'error code: ECONNREFUSED',
    'the token bucket is empty',
    'a key was revoked',
    'pnpm/foo@1.2.3/x.js',
  ])('%s stays', (text) => {
    expect(redactText(text)).toBe(text);
  });

  it('is read in linear time, however it is made', () => {
    for (const part of [
      ...[
        'a',
        'token',
        '//',
        '%2F%2F',
        'a:',
        'a@',
        '"key":',
        'bearer ',
        '[',
        'x.',
        '\\',
        'token=',
        'token%3D',
        'hooks.slack.com/services/',
      ],
      ...['cookie:', 'token="', `token='token="`, 'token=\\"', 'token="\\"', 'token:[', 'token="\\\\\\"'],
    ]) {
      const long = part.repeat(400_000 / part.length);
      // Anything quadratic would take minutes and meet the time limit of the test.
      expect(redactText(`${long}@`).length).toBeGreaterThan(0);
    }
  });
});
