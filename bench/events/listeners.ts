import { get } from 'node:http';
import { createGunzip } from 'node:zlib';

/** What the listeners of a job are told to do, and what they saw. */
export interface Listen {
  readonly port: number;
  readonly path: string;
  readonly apiKey: string;
  readonly count: number;
  /** The stream is read without compression. */
  readonly isPlain: boolean;
}
export interface Listened {
  /** Streams that ended with the job. */
  readonly ended: number;
  readonly bytes: number;
  /** Page events of one of the streams. */
  readonly pages: number;
}

/** Listeners in a process of their own, as clients are: each is one connection that takes what comes. */
process.once('message', ({ port, path, apiKey, count, isPlain }: Listen) => {
  let [open, ended, bytes, pages] = [count, 0, 0, 0];
  for (let n = 0; n < count; n += 1) {
    // A single client parses what the others only receive.
    const isRead = n === 0;
    const headers = { 'x-api-key': apiKey, ...(isPlain ? {} : { 'accept-encoding': 'gzip' }) };
    const request = get({ port, path, headers, agent: false }, (response) => {
      const leave = () => {
        open -= 1;
        if (open === 0)
          process.send?.({ ended, bytes, pages } satisfies Listened, () => process.disconnect());
      };
      response.on('data', (chunk: Buffer) => (bytes += chunk.length));
      response.on('end', () => (ended += 1));
      response.on('close', leave);
      response.on('error', () => undefined);
      if (!isRead) return;
      const text = response.headers['content-encoding'] === 'gzip' ? response.pipe(createGunzip()) : response;
      let rest = '';
      text.on('data', (chunk: Buffer) => {
        const parts = (rest + chunk.toString('latin1')).split('event: page.');
        pages += parts.length - 1;
        rest = (parts.at(-1) ?? '').slice(-12);
      });
    });
    request.on('error', () => (open -= 1));
  }
});
