import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { parseS3Url } from '../../core/config/place-urls.ts';
import {
  containerServer,
  type GivenCredentials,
  instanceServer,
  tokenServer,
} from './credentials.fixture.ts';
import { startOddServer } from './odd-server.fixture.ts';
import { openS3Bucket } from './s3-bucket.ts';
import { createS3Objects } from './s3-objects.ts';

const HOUR_MS = 3_600_000;
let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'scrapifie-aws-'));
  // Nothing that this machine or its user has counts.
  for (const name of Object.keys(process.env)) if (name.startsWith('AWS_')) vi.stubEnv(name, undefined);
  vi.stubEnv('AWS_SHARED_CREDENTIALS_FILE', join(dir, 'credentials'));
  vi.stubEnv('AWS_CONFIG_FILE', join(dir, 'config'));
  vi.stubEnv('AWS_EC2_METADATA_DISABLED', 'true');
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(dir, { recursive: true, force: true });
});

/** How a request was signed. */
interface Signature {
  readonly key: string;
  readonly region: string;
  readonly token: string | undefined;
}

/** A bucket whose URL has no keys, and the signatures of its requests. */
async function openWithoutKeys(parameters = '', timeoutMs = 5_000) {
  const signatures: Signature[] = [];
  const server = await startOddServer((_method, _url, headers) => {
    const [, key = '', region = ''] =
      /Credential=([^/]+)\/\d+\/([^/]+)\//.exec(headers.authorization ?? '') ?? [];
    signatures.push({ key, region, token: headers['x-amz-security-token'] as string | undefined });
    return { status: 200, body: 'fine' };
  });
  const bucket = await openS3Bucket({
    place: parseS3Url(server.url.replace('key:canary-secret@', '') + parameters),
    maxConnections: 1,
    timeoutMs,
    now: Date.now,
    random: () => 0,
  });
  onTestFinished(async () => {
    await bucket.close();
    await server.close();
  });
  return { objects: createS3Objects(bucket, Date.now), signatures };
}

const given = (name: string, expiresAt = Date.now() + HOUR_MS): GivenCredentials => ({
  accessKeyId: `AKID${name}`,
  secretAccessKey: `canary-secret-${name}`,
  token: `token-${name}`,
  expiresAt,
});

describe('without keys in the URL, requests are signed by', () => {
  test('keys of the environment, in the region of the environment', async () => {
    vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDENV');
    vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'canary-secret');
    vi.stubEnv('AWS_REGION', 'eu-central-1');
    const { objects, signatures } = await openWithoutKeys();
    await objects.read('k');
    expect(signatures).toEqual([{ key: 'AKIDENV', region: 'eu-central-1', token: undefined }]);
  });

  test('a profile of the shared files', async () => {
    const profile = 'aws_access_key_id = AKIDFILE\naws_secret_access_key = canary-secret\n';
    writeFileSync(join(dir, 'credentials'), `[scraper]\n${profile}`);
    writeFileSync(join(dir, 'config'), '[profile scraper]\nregion = eu-south-1\n');
    vi.stubEnv('AWS_PROFILE', 'scraper');
    const { objects, signatures } = await openWithoutKeys();
    await objects.read('k');
    expect(signatures).toEqual([{ key: 'AKIDFILE', region: 'eu-south-1', token: undefined }]);
  });

  test('the role of a container', async () => {
    const { origin } = await containerServer(() => given('CONTAINER'), 'Bearer of the container');
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${origin}/role`);
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'Bearer of the container');
    const { objects, signatures } = await openWithoutKeys();
    await objects.read('k');
    expect(signatures).toEqual([{ key: 'AKIDCONTAINER', region: 'us-east-1', token: 'token-CONTAINER' }]);
  });

  test('the role of an instance', async () => {
    const { origin, requests } = await instanceServer(() => given('INSTANCE'));
    vi.stubEnv('AWS_EC2_METADATA_DISABLED', undefined);
    vi.stubEnv('AWS_EC2_METADATA_SERVICE_ENDPOINT', origin);
    const { objects, signatures } = await openWithoutKeys('?region=eu-west-3');
    await objects.read('k');
    await objects.read('k');
    const signature = { key: 'AKIDINSTANCE', region: 'eu-west-3', token: 'token-INSTANCE' };
    expect(signatures).toEqual([signature, signature]);
    // The role is asked for once, not before each request.
    expect(requests.filter((each) => each.endsWith('/scraper-role'))).toHaveLength(1);
  });

  test('the role of a web identity', async () => {
    const [token, role] = ['a.web.token', 'arn:aws:iam::123456789012:role/scraper'];
    const { origin } = await tokenServer(() => given('WEB'), { token, role });
    writeFileSync(join(dir, 'token'), token);
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(dir, 'token'));
    vi.stubEnv('AWS_ROLE_ARN', role);
    vi.stubEnv('AWS_ENDPOINT_URL_STS', origin);
    const { objects, signatures } = await openWithoutKeys('?region=eu-west-3');
    await objects.read('k');
    expect(signatures).toEqual([{ key: 'AKIDWEB', region: 'eu-west-3', token: 'token-WEB' }]);
  });
});

describe('credentials', () => {
  test('that expire soon are asked for anew', async () => {
    let asked = 0;
    const { origin } = await containerServer(() => {
      asked += 1;
      return given(String(asked), Date.now() + (asked === 1 ? 1_000 : HOUR_MS));
    }, 'token');
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${origin}/role`);
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'token');
    const { objects, signatures } = await openWithoutKeys();
    await vi.waitFor(
      async () => {
        await objects.read('k');
        expect(signatures.at(-1)?.key).toBe('AKID2');
      },
      { timeout: 20_000 },
    );
  });

  test('that are nowhere are a wrong setting, which the message says', async () => {
    const { objects, signatures } = await openWithoutKeys();
    const error = await objects.read('k').catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({
      code: 'BLOBS_REFUSED',
      message: expect.stringMatching(/^There are no credentials for bucket bucket at http.*SCRAPIFIE_S3_URL/),
    });
    expect(signatures).toEqual([]);
  });

  test('that another service refuses are no refusal of the object store', async () => {
    const { origin } = await tokenServer(() => given('WEB'), { token: 'right', role: 'right' });
    writeFileSync(join(dir, 'token'), 'wrong');
    vi.stubEnv('AWS_WEB_IDENTITY_TOKEN_FILE', join(dir, 'token'));
    vi.stubEnv('AWS_ROLE_ARN', 'arn:aws:iam::123456789012:role/scraper');
    vi.stubEnv('AWS_ENDPOINT_URL_STS', origin);
    const { objects, signatures } = await openWithoutKeys('?region=eu-west-3');
    await expect(objects.read('k')).rejects.toThrow(/^There are no credentials for bucket bucket/);
    expect(signatures).toEqual([]);
  });

  test('that cannot be renewed make the object store unavailable, not refused', async () => {
    let asked = 0;
    const { origin } = await containerServer(() => {
      asked += 1;
      return asked > 1 ? null : given('ONCE', Date.now() + 1_000);
    }, 'token');
    vi.stubEnv('AWS_CONTAINER_CREDENTIALS_FULL_URI', `${origin}/role`);
    vi.stubEnv('AWS_CONTAINER_AUTHORIZATION_TOKEN', 'token');
    const { objects } = await openWithoutKeys('', 1_000);
    await objects.read('k');
    await vi.waitFor(() => expect(objects.read('k')).rejects.toMatchObject({ code: 'BLOBS_UNAVAILABLE' }), {
      timeout: 20_000,
    });
  });
});
