import { afterEach, describe, expect, test } from 'vitest';
import { parseS3Url } from '../../core/config/place-urls.ts';
import { createBlobsS3 } from './blobs-s3.ts';
import { uploadInParts } from './multipart.ts';
import { errorXml, type OddAnswers, startOddServer } from './odd-server.fixture.ts';
import { openS3Bucket } from './s3-bucket.ts';
import { createS3Objects } from './s3-objects.ts';

const closing: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of closing.splice(0).toReversed()) await each.close();
});

async function clientFor(answers: OddAnswers) {
  const server = await startOddServer(answers);
  const chance = { now: Date.now, random: () => 0 };
  const place = parseS3Url(server.url);
  const bucket = await openS3Bucket({ place, maxConnections: 2, timeoutMs: 5_000, ...chance });
  const blobs = await createBlobsS3({ url: server.url, ...chance });
  closing.push(server, bucket, blobs);
  return { bucket, objects: createS3Objects(bucket, Date.now), blobs, requests: server.requests };
}

/** Answers in turn, the last one for ever. */
const inTurn = (...answers: ReturnType<OddAnswers>[]): OddAnswers => {
  let turn = 0;
  return () => answers[Math.min(turn++, answers.length - 1)] ?? null;
};
const OK = { status: 200, body: 'fine' };
const UPLOAD = '<InitiateMultipartUploadResult><UploadId>id 1</UploadId></InitiateMultipartUploadResult>';
const EMPTY_LIST = '<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>';
const COMPLETED = '<CompleteMultipartUploadResult><Key>k</Key></CompleteMultipartUploadResult>';

describe('a request', () => {
  test.each([
    ['a server that is busy', { status: 503, body: errorXml('SlowDown') }],
    ['a server that fails', { status: 500, body: errorXml('InternalError') }],
    ['a gateway that says it in HTML', { status: 502, body: '<html><p>Bad gateway<br>' }],
    ['a server that hangs up', null],
    ['a payload that was damaged on the way', { status: 400, body: errorXml('BadDigest') }],
    ['a payload that came too slowly', { status: 400, body: errorXml('RequestTimeout') }],
    ['too many requests', { status: 429 }],
  ])('is made again after %s', async (_, failure) => {
    const { objects, requests } = await clientFor(inTurn(failure, failure, OK));
    await objects.write('k', Buffer.from('x'));
    expect(requests).toHaveLength(3);
    expect((await objects.read('k'))?.bytes.toString()).toBe('fine');
  });

  test.each([-3_600_000, 3_600_000])(
    'is signed anew when the server says that the clock is off by %i ms, and right from then on',
    async (skewMs) => {
      const serverNow = () => Date.now() - skewMs;
      const signedAt = (text: string) =>
        Date.parse(text.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
      const { objects, requests } = await clientFor((_method, _url, sent) => {
        const headers = { date: new Date(serverNow()).toUTCString() };
        const isSkewed = Math.abs(signedAt(String(sent['x-amz-date'])) - serverNow()) > 900_000;
        return isSkewed ? { status: 403, headers } : { ...OK, headers };
      });
      expect(await objects.has('k')).toBe(true);
      await objects.write('k', Buffer.from('x'), { onceWithinMs: 5_000 });
      expect(requests).toHaveLength(3);
    },
  );

  test('is not signed anew for a refusal that has nothing to do with the time', async () => {
    const { objects, requests } = await clientFor(inTurn({ status: 403, body: errorXml('AccessDenied') }));
    await expect(objects.read('k')).rejects.toMatchObject({
      code: 'BLOBS_REFUSED',
    });
    expect(requests).toHaveLength(1);
  });

  test('is given up after five tries', async () => {
    const { objects, requests } = await clientFor(inTurn({ status: 503, body: errorXml('SlowDown') }));
    await expect(objects.read('k')).rejects.toMatchObject({
      code: 'BLOBS_UNAVAILABLE',
      message: expect.stringMatching(/bucket bucket at http:\/\/127\.0\.0\.1:\d+ .*SlowDown/),
    });
    expect(requests).toHaveLength(5);
  });

  test('is made once when that is asked for', async () => {
    const { objects, requests } = await clientFor(inTurn(null, OK));
    await expect(objects.read('k', { onceWithinMs: 5_000 })).rejects.toMatchObject({
      code: 'BLOBS_UNAVAILABLE',
    });
    expect(requests).toHaveLength(1);
  });

  test.each([
    ['AccessDenied', 403, 'BLOBS_REFUSED'],
    ['AuthorizationHeaderMalformed', 400, 'BLOBS_REFUSED'],
    ['PermanentRedirect', 301, 'BLOBS_REFUSED'],
    ['NotImplemented', 501, 'BLOBS_REFUSED'],
    ['QuotaExceeded', 403, 'DISK_FULL'],
    ['XMinioStorageFull', 507, 'DISK_FULL'],
  ])('is not made again after %s', async (code, status, expected) => {
    const { objects, requests } = await clientFor(inTurn({ status, body: errorXml(code) }));
    const error = await objects.read('k').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: expected, message: expect.stringContaining(code) });
    expect(String(error)).not.toContain('canary-secret');
    expect(requests).toHaveLength(1);
  });

  test('learns from the server which region the bucket is in', async () => {
    const body = '<Error><Code>AuthorizationHeaderMalformed</Code><Region>eu-west-3</Region></Error>';
    const { objects } = await clientFor(inTurn({ status: 400, body }));
    await expect(objects.list('')).rejects.toThrow('region eu-west-3');
  });

  test('that failed after it was answered 200 has failed', async () => {
    let completions = 0;
    const { bucket, requests } = await clientFor((method, url) => {
      if (method !== 'POST') return { status: 200, headers: { etag: '"tag"' } };
      if (url.includes('uploads')) return { status: 200, body: UPLOAD };
      completions += 1;
      return completions === 1
        ? { status: 200, body: errorXml('InternalError') }
        : { status: 200, body: COMPLETED };
    });
    await uploadInParts(bucket, 'k', Buffer.from('x'));
    expect(completions).toBe(2);
    expect(requests).toHaveLength(4);
  });

  test('with a time limit ends when the server never answers', async () => {
    // 103 only announces an answer.
    const { objects } = await clientFor((_, url) => (url.includes('slow') ? { status: 103 } : OK));
    await expect(objects.read('slow', { onceWithinMs: 50 })).rejects.toThrow('no answer within 50 ms');
  });
});

describe('blobs in an object store with gaps', () => {
  test('are stored all the same where the server cannot tell what is absent', async () => {
    const { blobs, requests } = await clientFor((method, _url, headers) => {
      if (method === 'HEAD') return { status: 404 };
      return headers['if-none-match'] === '*' ? { status: 501, body: errorXml('NotImplemented') } : OK;
    });
    const hashes = ['a', 'b'].map((digit) => digit.repeat(64));
    for (const hash of hashes) await blobs.put([{ hash: hash as never, bytes: Buffer.from('x') }]);
    expect(requests.map((each) => each.split(' ')[0])).toEqual(['PUT', 'HEAD', 'PUT', 'HEAD', 'PUT']);
  });

  test('have their parts removed when one of them cannot be stored', async () => {
    const { bucket, requests } = await clientFor((method, url) => {
      if (method === 'POST' && url.includes('?uploads=')) return { status: 200, body: UPLOAD };
      if (method === 'DELETE') return { status: 204 };
      if (url.includes('partNumber=2')) return { status: 403, body: errorXml('AccessDenied') };
      return { status: 200, headers: { etag: '"tag"' } };
    });
    await expect(uploadInParts(bucket, 'key', Buffer.alloc(20_000_000))).rejects.toMatchObject({
      code: 'BLOBS_REFUSED',
    });
    expect(requests.at(-1)).toMatch(/^DELETE \/bucket\/key\?.*uploadId=id%201/);
    expect(requests.filter((request) => request.startsWith('POST'))).toHaveLength(1);
  });

  test('are not listed from something that is no object store', async () => {
    const { blobs } = await clientFor(inTurn({ status: 200, body: 'Welcome to nginx!' }));
    await expect(Array.fromAsync(blobs.list())).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' });
  });

  test('are not said to be deleted when some were not', async () => {
    const body = '<DeleteResult><Error><Key>k</Key><Code>AccessDenied</Code></Error></DeleteResult>';
    const { blobs } = await clientFor((method) => ({
      status: 200,
      body: method === 'POST' ? body : EMPTY_LIST,
    }));
    await expect(blobs.delete(['a'.repeat(64) as never])).rejects.toMatchObject({ code: 'BLOBS_REFUSED' });
  });
});
