import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A line to a server that passes everything on until it is told to keep the next answer to itself. */
export interface DeafLine {
  readonly url: string;
  /** The next thing the server says is swallowed and its line cut; resolves when that has happened. */
  swallowAnswer(): Promise<void>;
  /** Breaks what is connected now. */
  cut(): void;
  close(): Promise<void>;
}

export async function openDeafLine(serverUrl: string): Promise<DeafLine> {
  const server = new URL(serverUrl);
  const ends = new Set<Socket>();
  let onAnswer: (() => void) | null = null;
  const listener = createServer((near) => {
    const far = connect(Number(server.port), server.hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(from);
      from.setNoDelay(true);
      from.on('data', (bytes) => {
        if (from === far && onAnswer !== null) {
          const told = onAnswer;
          onAnswer = null;
          near.destroy();
          told();
          return;
        }
        to.write(bytes);
      });
      from.on('error', () => {});
      from.on('close', () => {
        ends.delete(from);
        to.destroy();
      });
    }
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    swallowAnswer: () =>
      new Promise((resolve) => {
        onAnswer = resolve;
      }),
    cut() {
      for (const end of [...ends]) end.destroy();
    },
    async close() {
      for (const end of [...ends]) end.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
}
