import { describe, expect, test } from 'vitest';
import { parseRedisUrl, parseS3Url, redisAddress, redisUrlProblem } from './place-urls.ts';

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

describe('the URL of an object store', () => {
  test('says all there is to know', () => {
    expect(parseS3Url('https://AKID:a%2Fb%2Bc@s3.example.com/bodies/a%20b/c?region=eu-west-3')).toEqual({
      endpoint: 'https://s3.example.com',
      bucket: 'bodies',
      prefix: 'a b/c/',
      region: 'eu-west-3',
      keys: { accessKeyId: 'AKID', secretAccessKey: 'a/b+c' },
      isVirtualHost: false,
    });
  });

  test('may leave the region, the port and the folder out', () => {
    expect(parseS3Url('http://k:s@127.0.0.1:9000/bodies/')).toMatchObject({
      endpoint: 'http://127.0.0.1:9000',
      bucket: 'bodies',
      prefix: '',
      region: null,
    });
  });

  test('may leave the keys out, for the AWS credential chain', () => {
    expect(parseS3Url('https://s3.eu-west-3.amazonaws.com/bodies?region=eu-west-3')).toMatchObject({
      endpoint: 'https://s3.eu-west-3.amazonaws.com',
      keys: null,
    });
  });

  test('may ask for the bucket as a host', () => {
    expect(parseS3Url('https://k:s@s3.example.com/bodies/deep?virtualHost=true')).toMatchObject({
      endpoint: 'https://s3.example.com',
      bucket: 'bodies',
      prefix: 'deep/',
      isVirtualHost: true,
    });
  });

  test.each([
    ['no URL', 'canary-secret'],
    ['another scheme', 's3://k:canary-secret@host/bucket'],
    ['no secret', 'https://canary-secret@host/bucket'],
    ['no access key', 'https://:canary-secret@host/bucket'],
    ['no bucket', 'https://k:canary-secret@host/'],
    ['a lone percent sign', 'https://k:canary-secret%@host/bucket'],
    ['an unknown parameter', 'https://k:canary-secret@host/bucket?regoin=x'],
    ['a word for yes', 'https://k:canary-secret@host/bucket?virtualHost=yes'],
  ])('is refused without being repeated: %s', (_, url) => {
    let thrown: unknown;
    try {
      parseS3Url(url);
    } catch (error) {
      thrown = error;
    }
    expect(thrown).toMatchObject({ code: 'INVALID_SETTINGS' });
    expect(String(thrown)).not.toContain('canary-secret');
  });
});
