import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import type { App } from './app.ts';

/** A piece below this length costs more to hand on than its bytes are worth. */
const SMALL_PIECE_BYTES = 64;
/** Small pieces of a body whose sender is not known yet, or has no key. */
const MOST_SMALL_PIECES = 256;

/** What Node.js has of its parser of HTTP: its callbacks by number, and the number of the one for pieces of bodies. */
interface HttpParser {
  [callback: number]: unknown;
  readonly constructor: { readonly kOnBody?: number };
}

/**
 * Closes connections that send a body in very many tiny chunks without a key. Node.js takes 64 KB off a connection at once
 * and hands on every chunk in them, ten thousand of one byte, before anything else gets its turn; a thousand such connections
 * would hold the main thread for ten seconds. A body with `Content-Length` comes in as few pieces as it has packets.
 */
export function limitBodyPieces(app: App): void {
  // A hook that calls `done` is over before the parser goes on to the body, which may be in the same packet as the head.
  app.addHook('onRequest', (request, _reply, done) => {
    if (request.raw.headers['transfer-encoding'] !== undefined) watchPieces(request);
    done();
  });
}

function watchPieces(request: FastifyRequest): void {
  const { raw } = request;
  const push = raw.push.bind(raw);
  let left = MOST_SMALL_PIECES;
  raw.push = (chunk: Buffer | null, encoding?: BufferEncoding) => {
    const isSmall = chunk !== null && chunk.length < SMALL_PIECE_BYTES;
    if (isSmall && (request.key === null || request.key === undefined)) left -= 1;
    if (left >= 0) return push(chunk, encoding);
    if (left === -1) {
      left = Number.NEGATIVE_INFINITY;
      endConnection(raw);
    }
    return true;
  };
}

/** The socket is destroyed in the next turn: within this one its parser is at work, and passes over the rest by itself. */
function endConnection({ socket }: IncomingMessage): void {
  const { parser } = socket as { parser?: HttpParser | null };
  const onBody = parser?.constructor.kOnBody;
  const callback = onBody === undefined ? undefined : parser?.[onBody];
  if (parser !== undefined && parser !== null && onBody !== undefined) parser[onBody] = null;
  setImmediate(() => {
    // Parsers are used again for other connections.
    if (parser !== undefined && parser !== null && onBody !== undefined) parser[onBody] = callback;
    socket.destroy();
  });
}
