import { connect, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { HostileKind } from './kinds.ts';

/** How the connections of one kind fared. */
export interface Fared {
  readonly kind: string;
  readonly connections: number;
  /** Answers by their status; the first of each connection. */
  readonly answered: Readonly<Record<string, number>>;
  /** Connections that the server ended, or never took. */
  readonly ended: number;
  /** Bytes that the connections got rid of. */
  readonly sentBytes: number;
}

export interface HostileClients {
  fared(): Fared;
  close(): void;
}

/** Connections that are opened, and send, at a time: what they send waits in memory that the whole machine shares. */
const OPENED_AT_ONCE = 100;
const DRIBBLE_MS = 1_000;

interface Client {
  readonly socket: Socket;
  status: string | null;
  hasEnded: boolean;
}

/** Opens the connections, each of which sends all that the server takes of it, for `sendMs` at most, and stays. */
export async function openHostileClients(options: {
  readonly port: number;
  readonly kind: HostileKind;
  readonly connections: number;
  readonly sendMs: number;
}): Promise<HostileClients> {
  const { port, kind, connections, sendMs } = options;
  const clients: Client[] = [];
  const dribble = setInterval(() => {
    for (const { socket, hasEnded } of clients) {
      if (kind.dribble !== undefined && !hasEnded && socket.writableLength === 0) socket.write(kind.dribble);
    }
  }, DRIBBLE_MS);
  for (let n = 0; n < connections; n += OPENED_AT_ONCE) {
    const some = Array.from({ length: Math.min(OPENED_AT_ONCE, connections - n) }, (_, at) => {
      const client = openClient(port, kind);
      clients.push(client);
      return sendAll(client, kind.pieces(n + at));
    });
    await Promise.race([Promise.all(some), delay(sendMs)]);
  }
  return {
    fared() {
      const answered: Record<string, number> = {};
      for (const { status } of clients) if (status !== null) answered[status] = (answered[status] ?? 0) + 1;
      return {
        kind: kind.name,
        connections,
        answered,
        ended: clients.filter(({ hasEnded }) => hasEnded).length,
        sentBytes: clients.reduce(
          (sum, { socket }) => sum + Math.max(0, socket.bytesWritten - socket.writableLength),
          0,
        ),
      };
    },
    close() {
      clearInterval(dribble);
      for (const { socket } of clients) socket.destroy();
    },
  };
}

/** The client keeps its side open when the server ends the other, as a client would that means harm. */
function openClient(port: number, { isDeaf }: HostileKind): Client {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  const client: Client = { socket, status: null, hasEnded: false };
  const end = () => {
    client.hasEnded = true;
  };
  socket.on('end', end).on('close', end).on('error', end);
  if (isDeaf !== true) {
    socket.on('data', (bytes: Buffer) => {
      client.status ??= /^HTTP\/1\.1 (\d{3})/.exec(bytes.toString('latin1', 0, 20))?.[1] ?? 'none';
    });
  }
  return client;
}

async function sendAll({ socket }: Client, pieces: readonly (string | Buffer)[]): Promise<void> {
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  for (const piece of pieces) {
    if (socket.destroyed) return;
    const written = new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    await Promise.race([written, closed]);
  }
}
