import type { Socket } from 'node:net';
import { SocketReader } from '../../src/fetch/proxy/proxy-handshakes.ts';
import { type Desk, join, misbehave, type Ruling } from './forwarding-proxy.ts';

const REPLIES: Readonly<Partial<Record<Ruling, number>>> = {
  granted: 0,
  swallow: 0,
  garble: 0,
  'unknown-host': 4,
  unreachable: 5,
  'gateway-error': 1,
};

/** The proxy's side of SOCKS5. */
export function speakSocks(client: Socket, desk: Desk): void {
  const reader = new SocketReader(client);
  converse(client, reader, desk).catch(() => client.destroy());
}

async function converse(client: Socket, reader: SocketReader, desk: Desk): Promise<void> {
  const [, count = 0] = await reader.exactly(2);
  const methods = [...(await reader.exactly(count))];
  const method = desk.needsLogin ? 2 : 0;
  if (!methods.includes(method)) {
    client.end(Buffer.from([5, 0xff]));
    return;
  }
  client.write(Buffer.from([5, method]));
  let username: string | null = null;
  if (method === 2) {
    await reader.exactly(1);
    username = await field(reader);
    const isWelcome = desk.isWelcome(username, await field(reader));
    client.write(Buffer.from([1, isWelcome ? 0 : 1]));
    if (!isWelcome) {
      client.end();
      return;
    }
  }
  const [, , , kind] = await reader.exactly(4);
  const host = kind === 3 ? await field(reader) : [...(await reader.exactly(4))].join('.');
  const port = (await reader.exactly(2)).readUInt16BE();
  const { ruling, target } = await desk.ask({ username, host, port });
  if (ruling === 'hang-up') client.destroy();
  const reply = REPLIES[ruling];
  if (reply === undefined) return;
  reader.release();
  // The address it connects from, written as a name, which is rare but allowed.
  client.write(Buffer.from([5, reply, 0, 3, 2, 0x6d, 0x65, 0, 0]));
  if (target !== null) join(client, target);
  else if (reply === 0) misbehave(client, ruling);
  else client.end();
}

async function field(reader: SocketReader): Promise<string> {
  const [length = 0] = await reader.exactly(1);
  return (await reader.exactly(length)).toString();
}
