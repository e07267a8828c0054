import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A refusal of every PUT: its status and the name that object stores give it. */
export type PutRefusal =
  | '507 InsufficientStorage'
  | '403 QuotaExceeded'
  | '400 XMinioAdminBucketQuotaExceeded';

/** An object store that can be full: requests pass on to a real one, and PUTs are refused while it is told so. */
export interface FullableS3 {
  /** Address of the same bucket and prefix, through this proxy. */
  readonly url: string;
  /** Answers PUTs with this from now on; null lets them through. */
  refusePuts(refusal: PutRefusal | null): void;
  close(): Promise<void>;
}

export async function openFullableS3(s3Url: string): Promise<FullableS3> {
  const target = new URL(s3Url);
  let refusal: PutRefusal | null = null;
  const server = createServer((incoming, outgoing) => {
    const { method, url: path, headers } = incoming;
    if (method === 'PUT' && refusal !== null) {
      const [status, code] = refusal.split(' ');
      incoming.resume();
      incoming.on('end', () => {
        outgoing.writeHead(Number(status)).end(`<Error><Code>${code}</Code></Error>`);
      });
      return;
    }
    // The signature covers the Host header, so it is passed on as it came.
    const onward = request({ host: target.hostname, port: target.port, method, path, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(outgoing);
    });
    onward.on('error', () => outgoing.destroy());
    incoming.pipe(onward);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(s3Url);
  url.hostname = '127.0.0.1';
  url.port = String((server.address() as AddressInfo).port);
  return {
    url: url.href,
    refusePuts(next) {
      refusal = next;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
