import { connect } from 'node:net';

/** What the listeners of a job are told to do, and what they saw. */
export interface Listen {
  readonly port: number;
  readonly path: string;
  readonly apiKey: string;
  readonly count: number;
}
export interface Listened {
  /** Streams that ended with the job. */
  readonly ended: number;
  readonly bytes: number;
  /** Page events of one of the streams. */
  readonly pages: number;
}

const END = Buffer.from('event: end\n');

/** Listeners in a process of their own, as clients are: each is one connection that takes what comes. */
process.once('message', ({ port, path, apiKey, count }: Listen) => {
  let [open, ended, bytes, pages] = [count, 0, 0, 0];
  for (let n = 0; n < count; n += 1) {
    const socket = connect(port, '127.0.0.1');
    let last: Buffer = Buffer.alloc(0);
    socket.write(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nX-API-Key: ${apiKey}\r\n\r\n`);
    socket.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (n === 0) pages += chunk.toString('latin1').split('event: page.').length - 1;
      last = Buffer.concat([last.subarray(-END.length), chunk.subarray(-256)]);
    });
    socket.on('error', () => undefined);
    socket.on('close', () => {
      if (last.includes(END)) ended += 1;
      open -= 1;
      if (open === 0) process.send?.({ ended, bytes, pages } satisfies Listened, () => process.disconnect());
    });
  }
});
