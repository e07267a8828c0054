// The site as files on a fast web server: every answer is ready before the first request, so that what the server
// costs is what the kernel costs. Started by static-site.ts, which talks to it by messages.
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { pathOfPage, renderPage } from '../../test/site/pages/big.ts';

export type StaticQuestion = 'requests' | 'reset';
export type StaticMessage = { readonly port: number } | { readonly requests: number };

const HEAD_END = '\r\n\r\n';
const pages = Number(process.argv[2]);
const answers = new Map(
  Array.from({ length: pages }, (_, page) => [pathOfPage(page), answerOf('200 OK', renderPage(page, pages))]),
);
const missing = answerOf('404 Not Found', Buffer.from('<!doctype html><title>Not found</title>'));
let requests = 0;

function answerOf(status: string, body: Buffer): Buffer {
  const head =
    `HTTP/1.1 ${status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: ${body.length}` +
    `\r\nconnection: keep-alive${HEAD_END}`;
  return Buffer.concat([Buffer.from(head), body]);
}

/** Requests without a body are all that crawlers send here. */
function serve(socket: Socket): void {
  let unread = '';
  socket.setNoDelay(true);
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk) => {
    unread += chunk.toString('latin1');
    for (let end = unread.indexOf(HEAD_END); end >= 0; end = unread.indexOf(HEAD_END)) {
      const pathAt = unread.indexOf(' ') + 1;
      const path = unread.slice(pathAt, unread.indexOf(' ', pathAt));
      unread = unread.slice(end + HEAD_END.length);
      requests += 1;
      socket.write(answers.get(path) ?? missing);
    }
  });
}

const say = (message: StaticMessage) => process.send?.(message);
const server = createServer(serve);
server.listen(0, '127.0.0.1', () => say({ port: (server.address() as AddressInfo).port }));
process.on('message', (question: StaticQuestion) => {
  say({ requests });
  if (question === 'reset') requests = 0;
});
process.once('disconnect', () => process.exit());
