import { describe, expect, test } from 'vitest';
import { parseRedisUrl, redisAddress, redisUrlProblem } from './redis-url.ts';

describe('the URL of Redis', () => {
  test('names one server with its login and database', () => {
    expect(parseRedisUrl('redis://me:a%3Ab@redis.test:6390/3')).toEqual({
      kind: 'server',
      hosts: [{ host: 'redis.test', port: 6390 }],
      username: 'me',
      password: 'a:b',
      database: 3,
      primaryName: '',
      tls: null,
    });
    expect(parseRedisUrl('redis://[::1]')).toMatchObject({
      hosts: [{ host: '::1', port: 6379 }],
      database: 0,
    });
  });

  test('names several nodes of a cluster', () => {
    expect(parseRedisUrl('rediss+cluster://:p@a:7000,b:7001,c?sslrootcert=/ca.pem')).toMatchObject({
      kind: 'cluster',
      hosts: [
        { host: 'a', port: 7000 },
        { host: 'b', port: 7001 },
        { host: 'c', port: 6379 },
      ],
      password: 'p',
      tls: { sslrootcert: '/ca.pem', sslcert: '', sslkey: '' },
    });
  });

  test('names sentinels, and what they call the primary', () => {
    expect(parseRedisUrl('redis+sentinel://a,b:26380/main/2')).toMatchObject({
      kind: 'sentinel',
      hosts: [
        { host: 'a', port: 26379 },
        { host: 'b', port: 26380 },
      ],
      primaryName: 'main',
      database: 2,
    });
  });

  test.each([
    ['redis://', /^must be redis:/],
    ['http://a', /^must be redis:/],
    ['redis://a,b', /^must be redis:/],
    ['redis://a/abc', /^must be redis:/],
    ['redis://:secret%zz@a', /^must be redis:/],
    ['redis://a:66000', /^must be redis:/],
    ['redis+cluster://a,b/1', /only number 0/],
    ['redis+sentinel://a,b', /must name the primary/],
    ['redis://a?maxRetriesPerRequest=1', /unknown parameter, maxRetriesPerRequest/],
    ['redis://a?sslrootcert=/ca.pem', /needs rediss/],
    ['rediss://a?sslrootcert=/nowhere/ca.pem', /cannot be read \(sslrootcert, ENOENT\)/],
  ])('%s is refused with what is wrong', (url, why) => {
    expect(redisUrlProblem(url)).toMatch(why);
    expect(redisUrlProblem(url)).not.toContain('secret');
  });

  test('is shown in messages without its login', () => {
    expect(redisAddress('redis+cluster://me:hunter2@a:7000,[::1]:7001')).toBe('a:7000,[::1]:7001');
  });
});
