import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createSigner, encodePath, queryOf } from './sign.ts';

/** The examples of the Amazon S3 API reference, "Signature Calculations for the Authorization Header". */
const KEYS = {
  accessKeyId: 'AKIAIOSFODNN7EXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const AT = Date.UTC(2013, 4, 24);
const HOST = 'examplebucket.s3.amazonaws.com';
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('a signature', () => {
  test.each([
    {
      name: 'of a read with a range',
      method: 'GET',
      path: '/test.txt',
      query: '',
      headers: { range: 'bytes=0-9' },
      payload: '',
      signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
    },
    {
      name: 'of a write whose key needs encoding',
      method: 'PUT',
      path: `/${encodePath('test$file.text')}`,
      query: '',
      headers: { date: 'Fri, 24 May 2013 00:00:00 GMT', 'x-amz-storage-class': 'REDUCED_REDUNDANCY' },
      payload: 'Welcome to Amazon S3.',
      signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
    },
    {
      name: 'of a parameter without a value',
      method: 'GET',
      path: '/',
      query: queryOf({ lifecycle: '' }),
      headers: {},
      payload: '',
      signature: 'fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543',
    },
    {
      name: 'of a list',
      method: 'GET',
      path: '/',
      query: queryOf({ prefix: 'J', 'max-keys': '2' }),
      headers: {},
      payload: '',
      signature: '34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7',
    },
  ])('$name is the published one', ({ method, path, query, headers, payload, signature }) => {
    const sign = createSigner(KEYS);
    const request = {
      method,
      path,
      query,
      headers: { host: HOST, ...headers },
      payloadHash: sha256(payload),
    };
    expect(sign(request, AT).authorization).toMatch(new RegExp(`,Signature=${signature}$`));
  });

  test('of the next day is made with the key of the next day', () => {
    const request = { method: 'GET', path: '/', query: '', headers: { host: HOST }, payloadHash: sha256('') };
    const sign = createSigner(KEYS);
    sign(request, AT);
    const nextDay = AT + 86_400_000;
    expect(sign(request, nextDay)).toEqual(createSigner(KEYS)(request, nextDay));
    expect(sign(request, AT)).toEqual(createSigner(KEYS)(request, AT));
  });

  test('does not hold the secret', () => {
    const request = { method: 'GET', path: '/', query: '', headers: { host: HOST }, payloadHash: sha256('') };
    expect(JSON.stringify(createSigner(KEYS)(request, AT))).not.toContain(KEYS.secretAccessKey);
  });
});

test('an encoded path has only unreserved characters, percents and slashes, and decodes to what it was', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), (path) => {
      expect(encodePath(path)).toMatch(/^[A-Za-z0-9._~%/-]*$/);
      expect(decodeURIComponent(encodePath(path))).toBe(path);
    }),
  );
});
