import { once } from 'node:events';
import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface KeyProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** Hands requests on with an API key, for a client that cannot send one, and changes nothing else. */
export async function startKeyProxy(target: URL, key: string): Promise<KeyProxy> {
  const server = createServer((incoming, answer) => {
    const { method, headers, url: path } = incoming;
    const { hostname: host, port } = target;
    const sent = request(
      { host, port, path, method, headers: { ...headers, 'x-api-key': key } },
      (response) => {
        answer.writeHead(response.statusCode ?? 502, response.headers);
        response.pipe(answer);
      },
    );
    sent.once('error', () => answer.destroy());
    answer.once('close', () => sent.destroy());
    incoming.pipe(sent);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${target.pathname}`,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
