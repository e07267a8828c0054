import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** `open` passes bytes on; `cut` breaks what is connected and refuses the rest; `silent` takes bytes and gives none. */
export type LineState = 'open' | 'cut' | 'silent';

/** A line to a server that can be broken, so that a server many tests share seems to be away for one of them. */
export interface BreakableLine {
  readonly port: number;
  set(state: LineState): void;
  close(): Promise<void>;
}

export async function openLine(server: { host: string; port: number }): Promise<BreakableLine> {
  let state: LineState = 'open';
  const ends = new Set<Socket>();
  const listener = createServer((near) => {
    if (state === 'cut') {
      near.destroy();
      return;
    }
    const far = connect(server);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.setNoDelay(true);
      from.on('data', (bytes) => to.write(bytes));
      from.on('error', () => {});
      from.on('close', () => {
        ends.delete(from);
        to.destroy();
      });
      if (state === 'silent') from.pause();
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    set(next) {
      state = next;
      for (const end of [...ends]) {
        if (next === 'cut') end.destroy();
        else if (next === 'silent') end.pause();
        else end.resume();
      }
    },
    async close() {
      for (const end of [...ends]) end.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
