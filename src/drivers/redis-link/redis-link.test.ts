import { inspect } from 'node:util';
import { describe, expect, test } from 'vitest';
import { redisAddress } from '../../core/config/place-urls.ts';
import { asQueueError } from './redis-error.ts';
import { assertUsable } from './redis-link.ts';

const info = (version: string, maxmemory: number, policy: string) =>
  `# Server\r\nredis_version:${version}\r\nos:Linux\r\n# Memory\r\nmaxmemory:${maxmemory}\r\nmaxmemory_human:0B\r\nmaxmemory_policy:${policy}\r\n`;

describe('what INFO says of a Redis', () => {
  test.each([
    ['7.0.15', 0, 'noeviction'],
    ['6.2.0', 1_000_000, 'noeviction'],
    // Nothing is thrown away where there is no limit.
    ['8.1.0', 0, 'allkeys-lru'],
  ])('version %s with maxmemory %i and %s is fit', (...server) => {
    expect(() => assertUsable(info(...server), 'redis:6379')).not.toThrow();
  });

  test.each(['6.0.16', '5.0.7', '2.8.0', ''])('version "%s" is too old', (version) => {
    expect(() => assertUsable(info(version, 0, 'noeviction'), 'redis:6379')).toThrow(
      expect.objectContaining({ code: 'QUEUE_REFUSED' }),
    );
  });

  test.each(['allkeys-lru', 'volatile-ttl', 'allkeys-random'])('a policy of %s is unsafe', (policy) => {
    expect(() => assertUsable(info('7.2.0', 100, policy), 'redis:6379')).toThrow(
      expect.objectContaining({ code: 'QUEUE_UNSAFE', message: expect.stringContaining(policy) }),
    );
  });
});

describe('messages about Redis', () => {
  test('name host and port and never the login', () => {
    expect(redisAddress('redis://me:hunter2@redis.example:6390/3')).toBe('redis.example:6390');
    expect(redisAddress('rediss://:hunter2@[::1]')).toBe('[::1]:6379');
  });

  test('carry no command of the client, which would hold a password', () => {
    const raw = Object.assign(new Error('WRONGPASS invalid username-password pair'), {
      command: { name: 'auth', args: ['hunter2'] },
    });
    const error = asQueueError(raw, 'redis:6379');
    expect(error.code).toBe('QUEUE_REFUSED');
    expect(inspect(error, { depth: 10, showHidden: true })).not.toContain('hunter2');
  });

  test('say something also of an error without a text', () => {
    const raw = Object.assign(new AggregateError([], ''), { code: 'ECONNREFUSED' });
    expect(asQueueError(raw, 'redis:6379')).toMatchObject({
      code: 'QUEUE_UNAVAILABLE',
      message: 'Redis at redis:6379 did not answer: ECONNREFUSED',
    });
  });
});
