import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface OddAnswer {
  readonly status: number;
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The response to each request, by method and URL; null closes the connection. */
export type OddAnswers = (
  method: string,
  url: string,
  headers: IncomingMessage['headers'],
) => OddAnswer | null;

/** An object store that answers as a sound one seldom does. Keeps `METHOD url` of every request. */
export async function startOddServer(answers: OddAnswers) {
  const requests: string[] = [];
  const server = createServer((request, response) => {
    const { method = '', url = '', headers } = request;
    requests.push(`${method} ${url}`);
    request.resume();
    request.on('end', () => {
      const answer = answers(method, url, headers);
      if (answer === null) request.socket.destroy();
      else response.writeHead(answer.status, answer.headers).end(answer.body ?? '');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://key:canary-secret@127.0.0.1:${port}/bucket`,
    requests,
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const errorXml = (code: string) => `<?xml version="1.0"?>\n<Error><Code>${code}</Code></Error>`;
