import { describe, expect, test } from 'vitest';
import { parseS3Url } from './s3-place.ts';

describe('the URL of an object store', () => {
  test('says all there is to know', () => {
    expect(parseS3Url('https://AKID:a%2Fb%2Bc@s3.example.com/bodies/a%20b/c?region=eu-west-3')).toMatchObject(
      {
        origin: 'https://s3.example.com',
        host: 's3.example.com',
        bucket: 'bodies',
        prefix: 'a b/c/',
        region: 'eu-west-3',
        accessKeyId: 'AKID',
        secretAccessKey: 'a/b+c',
      },
    );
  });

  test('may leave the region, the port and the folder out', () => {
    const place = parseS3Url('http://k:s@127.0.0.1:9000/bodies/');
    expect(place).toMatchObject({ host: '127.0.0.1:9000', prefix: '', region: 'us-east-1' });
    expect(place.pathOf()).toBe('/bodies');
    expect(place.pathOf('ab/x y')).toBe('/bodies/ab/x%20y');
  });

  test('may ask for the bucket as a host', () => {
    const place = parseS3Url('https://k:s@s3.example.com/bodies/deep?virtualHost=true');
    expect(place).toMatchObject({ origin: 'https://bodies.s3.example.com', host: 'bodies.s3.example.com' });
    expect(place.prefix).toBe('deep/');
    expect(place.pathOf()).toBe('/');
    expect(place.pathOf('ab/x')).toBe('/ab/x');
  });

  test.each([
    ['no URL', 'canary-secret'],
    ['another scheme', 's3://k:canary-secret@host/bucket'],
    ['no secret', 'https://canary-secret@host/bucket'],
    ['no keys', 'https://host/bucket?region=canary-secret'],
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
