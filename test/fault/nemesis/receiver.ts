import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ReceivedRecord } from './history.ts';

/** A receiver of webhooks that notes every message. Until it is told to behave, it refuses some and cuts others off. */
export interface Receiver {
  readonly origin: string;
  readonly received: readonly ReceivedRecord[];
  behave(): void;
  close(): Promise<void>;
}

const REFUSED = 0.15;
const CUT_OFF = 0.25;

export async function startReceiver(random: () => number): Promise<Receiver> {
  const received: ReceivedRecord[] = [];
  let isGood = false;
  const server = createServer(async (request, response) => {
    const message = (await json(request).catch(() => null)) as {
      id: string;
      type: string;
      data: { jobId?: string };
    } | null;
    if (message === null) return void request.socket.destroy();
    const chance = isGood ? 1 : random();
    const status = chance < REFUSED ? 500 : chance < CUT_OFF ? null : 200;
    received.push({
      at: Date.now(),
      account: (request.url ?? '').slice(1),
      eventId: message.id,
      event: message.type,
      jobId: message.data.jobId ?? null,
      status,
    });
    if (status === null) request.socket.destroy();
    else response.writeHead(status).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    behave() {
      isGood = true;
    },
    async close() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close');
    },
  };
}
