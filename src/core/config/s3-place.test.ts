import { describe, expect, test } from 'vitest';
import { parseS3Url } from './s3-place.ts';

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
