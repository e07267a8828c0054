import { createHmac, hash } from 'node:crypto';

/** AWS Signature Version 4 for S3, with the signature in the Authorization header. */

export interface SigningKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly region: string;
}

export interface Signable {
  readonly method: string;
  /** Encoded, as it goes over the wire. */
  readonly path: string;
  /** As `queryOf` makes it. */
  readonly query: string;
  /** Names in small letters, the host among them. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>;
  /** Hex SHA-256 of the payload. */
  readonly payloadHash: string;
}

const ALGORITHM = 'AWS4-HMAC-SHA256';
/** What `encodeURIComponent` leaves and S3 does not. */
const LEFT_OVER = /[!'()*]/g;

/** The headers of the request with those that prove who sent it. The signing key of the day is remembered. */
export function createSigner(keys: SigningKeys): (request: Signable, at: number) => Record<string, string> {
  let day = '';
  let dayKey: Buffer = Buffer.alloc(0);
  return ({ method, path, query, headers, payloadHash }, at) => {
    const time = new Date(at).toISOString().replace(/[:-]|\.\d+/g, '');
    if (!time.startsWith(day) || day === '') {
      day = time.slice(0, 8);
      dayKey = [day, keys.region, 's3', 'aws4_request'].reduce<Buffer>(
        (key, part) => hmac(key, part),
        Buffer.from(`AWS4${keys.secretAccessKey}`),
      );
    }
    const sent: Record<string, string> = {
      ...headers,
      'x-amz-content-sha256': payloadHash,
      'x-amz-date': time,
    };
    const names = Object.keys(sent).sort();
    const lines = names.map((name) => `${name}:${sent[name]?.trim().replace(/ +/g, ' ')}\n`).join('');
    const signedNames = names.join(';');
    const canonical = `${method}\n${path}\n${query}\n${lines}\n${signedNames}\n${payloadHash}`;
    const scope = `${day}/${keys.region}/s3/aws4_request`;
    const signature = hmac(dayKey, `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical, 'hex')}`);
    sent.authorization =
      `${ALGORITHM} Credential=${keys.accessKeyId}/${scope},SignedHeaders=${signedNames},` +
      `Signature=${signature.toString('hex')}`;
    return sent;
  };
}

/** Encodes everything but unreserved characters and the slashes between folders. */
export function encodePath(path: string): string {
  return path.split('/').map(encodePart).join('/');
}

/** The query in the one order and encoding that is also signed. */
export function queryOf(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .map(([name, value]) => `${encodePart(name)}=${encodePart(value)}`)
    .sort()
    .join('&');
}

function encodePart(text: string): string {
  return encodeURIComponent(text).replace(
    LEFT_OVER,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function hmac(key: Buffer, text: string): Buffer {
  return createHmac('sha256', key).update(text).digest();
}
