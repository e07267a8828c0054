import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/**
 * What happens to the connections of one proxy.
 *
 * - `pass`: bytes go both ways.
 * - `swallow`: connections are accepted and stay open, bytes are taken and go nowhere: a half-open line. Connections
 *   that were swallowed once never work again, as after a router has lost its state.
 * - `refuse`: every connection is reset, and so is each new one.
 * - `cut-replies`: requests reach the server; the connection is reset instead of passing on the reply that completes
 *   one, so that the server has done what the client never hears of.
 * - `delay`: bytes go both ways, late.
 */
export type LinkMode = 'pass' | 'swallow' | 'refuse' | 'cut-replies' | 'delay';

/** Stands between one process and one server. */
export interface FaultProxy {
  readonly port: number;
  /** Connections that are open now, and those of the future. */
  set(mode: LinkMode): void;
  /** Resets every connection that is open now. */
  cut(): void;
  close(): Promise<void>;
}

export interface FaultProxyOptions {
  /** Port of the server on this machine. */
  readonly targetPort: number;
  /** Whether a reply ends a request; left out: every piece of a reply does. */
  readonly isWholeReply?: (tail: Buffer) => boolean;
  readonly delayMs?: number;
}

interface Pair {
  readonly near: Socket;
  readonly far: Socket;
  /** A half-open line stays one. */
  isSwallowed: boolean;
}

const HOST = '127.0.0.1';
const DELAY_MS = 150;

/** The end of a PostgreSQL reply outside a transaction: what was asked for has been committed. */
export function isCommitted(tail: Buffer): boolean {
  return tail.subarray(-6).equals(Buffer.from([0x5a, 0, 0, 0, 5, 0x49]));
}

export async function openFaultProxy(options: FaultProxyOptions): Promise<FaultProxy> {
  const { targetPort, isWholeReply = () => true, delayMs = DELAY_MS } = options;
  let mode: LinkMode = 'pass';
  const pairs = new Set<Pair>();

  const end = ({ near, far }: Pair) => {
    near.resetAndDestroy();
    far.destroy();
  };

  function forward(pair: Pair, from: Socket, to: Socket, bytes: Buffer): void {
    if (pair.isSwallowed || mode === 'swallow') {
      pair.isSwallowed = true;
      return;
    }
    if (mode === 'cut-replies' && from === pair.far) {
      if (isWholeReply(bytes)) end(pair);
      return;
    }
    if (mode === 'delay') {
      setTimeout(() => {
        if (!to.destroyed && !pair.isSwallowed) to.write(bytes);
      }, delayMs);
      return;
    }
    if (!to.write(bytes)) {
      from.pause();
      to.once('drain', () => from.resume());
    }
  }

  const listener = createServer((near) => {
    if (mode === 'refuse') {
      near.resetAndDestroy();
      return;
    }
    const far = connect({ host: HOST, port: targetPort });
    const pair: Pair = { near, far, isSwallowed: mode === 'swallow' };
    pairs.add(pair);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.setNoDelay(true);
      from.on('data', (bytes) => forward(pair, from, to, bytes));
      from.on('error', () => {});
      from.on('close', () => {
        // The process does not hear of it when the server closes a half-open line.
        if (pair.isSwallowed && from === far && !near.destroyed) return;
        pairs.delete(pair);
        to.destroy();
      });
    }
  });
  listener.listen(0, HOST);
  await once(listener, 'listening');

  const cut = () => {
    for (const pair of [...pairs]) end(pair);
  };
  return {
    port: (listener.address() as AddressInfo).port,
    set(next) {
      mode = next;
      if (next === 'refuse') cut();
      if (next === 'swallow') for (const pair of pairs) pair.isSwallowed = true;
    },
    cut,
    async close() {
      cut();
      listener.close();
      await once(listener, 'close');
    },
  };
}

/** The same URL with the proxy's port. */
export function throughProxy(url: string, { port }: Pick<FaultProxy, 'port'>): string {
  const through = new URL(url);
  through.port = String(port);
  return through.href;
}
