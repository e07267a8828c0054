import { connect } from 'node:net';
import type { FuzzRequest } from './requests.ts';

export interface Exchange {
  /** `answered`: the server closed the connection after it said something. */
  readonly end: 'answered' | 'closed' | 'hung';
  readonly bytes: Buffer;
  readonly ms: number;
}

/** An answer larger than this is cut: what it is has been seen. */
const MAX_BYTES = 50_000_000;

/**
 * Sends a request over a connection of its own and reads until the server closes it. A request that is not whole is
 * followed by the end of the client's side, so that the server has nothing to wait for either.
 */
export function exchange(port: number, request: FuzzRequest, limitMs: number): Promise<Exchange> {
  return new Promise((resolve) => {
    const startedAt = performance.now();
    const chunks: Buffer[] = [];
    let size = 0;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const end = (how: 'over' | 'hung') => {
      clearTimeout(timer);
      socket.destroy();
      const kind = how === 'hung' ? 'hung' : size > 0 ? 'answered' : 'closed';
      resolve({ end: kind, bytes: Buffer.concat(chunks), ms: performance.now() - startedAt });
    };
    const timer = setTimeout(() => end('hung'), limitMs);
    socket.on('data', (chunk: Buffer) => {
      size += chunk.byteLength;
      chunks.push(chunk);
      if (size > MAX_BYTES) end('over');
    });
    socket.on('end', () => end('over'));
    socket.on('close', () => end('over'));
    socket.on('error', () => undefined);
    if (request.isWhole) socket.write(request.bytes);
    else socket.end(request.bytes);
  });
}
