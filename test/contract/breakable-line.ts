import { openTcpProxy, type TcpProxy } from '../fault/tcp-proxy.ts';

/** `open` passes bytes on; `cut` breaks what is connected and refuses the rest; `silent` takes bytes and gives none. */
export type LineState = 'open' | 'cut' | 'silent';

/** A line to a server that can be broken, so that a server many tests share seems to be away for one of them. */
export interface BreakableLine {
  readonly port: number;
  /** For faults of other kinds. */
  readonly proxy: TcpProxy;
  set(state: LineState): void;
  close(): Promise<void>;
}

const MODES = { open: 'pass', cut: 'refuse', silent: 'hold' } as const;

export async function openLine(server: { host: string; port: number }): Promise<BreakableLine> {
  const proxy = await openTcpProxy(server);
  return {
    port: proxy.port,
    proxy,
    set: (state) => proxy.set(MODES[state]),
    close: () => proxy.close(),
  };
}
