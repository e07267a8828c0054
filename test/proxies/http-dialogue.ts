import type { Socket } from 'node:net';
import { type Desk, join, misbehave, type Ruling } from './forwarding-proxy.ts';

const ANSWERS: Readonly<Partial<Record<Ruling, string>>> = {
  granted: '200 Connection established',
  swallow: '200 Connection established',
  garble: '200 Connection established',
  'unknown-host': '502 Bad Gateway\r\nProxy-Status: test; error=dns_error',
  unreachable: '502 Bad Gateway\r\nProxy-Status: test; error=connection_refused',
  'gateway-error': '502 Bad Gateway',
};

/** The proxy's side of HTTP CONNECT. */
export function speakHttp(client: Socket, desk: Desk): void {
  let head = '';
  const onData = (chunk: Buffer): void => {
    head += chunk.toString('latin1');
    if (!head.includes('\r\n\r\n')) return;
    client.off('data', onData);
    client.pause();
    void answer(client, desk, head);
  };
  client.on('data', onData);
}

async function answer(client: Socket, desk: Desk, head: string): Promise<void> {
  const [, host = '', port = ''] = /^CONNECT \[?([^\s\]]+)\]?:(\d+) HTTP\/1\.1\r\n/.exec(head) ?? [];
  const basic = /^proxy-authorization: basic (\S+)\r$/im.exec(head)?.[1] ?? '';
  const [, username = null, password = null] =
    /^([^:]*):(.*)$/.exec(Buffer.from(basic, 'base64').toString()) ?? [];
  if (!desk.isWelcome(username, password)) {
    client.end(
      'HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm="test"\r\n\r\n',
    );
    return;
  }
  const { ruling, target } = await desk.ask({ username, host, port: Number(port) });
  if (ruling === 'hang-up') client.destroy();
  const words = ANSWERS[ruling];
  if (words === undefined) return;
  client.write(`HTTP/1.1 ${words}\r\n\r\n`);
  if (target !== null) join(client, target);
  else if (words.startsWith('200')) misbehave(client, ruling);
  else client.end();
}
