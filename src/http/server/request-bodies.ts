import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { listen } from '../../core/errors/guarded.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { App } from './app.ts';

/** The most that the body of a request without a key may have, whatever route it is for. */
export const KEYLESS_BODY_BYTES = 16_384;

export interface RequestBodyLimits {
  /** Bytes of bodies that have not arrived whole, of all requests together. */
  readonly maxHeldBytes: number;
  /** A sender that stays below it for a whole stretch of `STRETCH_MS` is cut off. */
  readonly minBytesPerSecond: number;
  readonly now: () => number;
  /** Told of each body that came too slowly. */
  readonly onSlow: () => void;
}

export type BodyRead = (error: Error | null, body: Buffer) => void;

/** Bodies of requests while they arrive. */
export interface RequestBodies {
  /**
   * Reads the body of a request to its end and hands it on, as far as it may be read: `done` gets BODY_TOO_LARGE for one
   * above `limitBytes` (at once where its head says so), OVERLOADED when too much has not arrived whole already, and
   * BODY_TOO_SLOW. What is left of a body after an error is not read here.
   */
  read(request: FastifyRequest, limitBytes: number, done: BodyRead): void;
  /** Bytes held for bodies that have not arrived whole. */
  heldBytes(): number;
  /** Ends what came too slowly; called by a timer as well. */
  sweep(): void;
  close(): void;
}

/** Requests without a key may take this part of what bodies may hold, so that they cannot shut out those with a key. */
const KEYLESS_PART = 8;
/** One account, or one address without a key, may take this part of its share. */
const ONE_SENDER_PART = 2;
/** How long a sender may be too slow: a lost packet may take seconds to arrive after all. */
const STRETCH_MS = 15_000;
const SWEEP_MS = 1_000;
const FIRST_BYTES = 1_024;
/** Pieces of a body without a key: a piece of one byte costs as much time as one of a thousand. */
const MOST_KEYLESS_PIECES = 256;
const EMPTY = Buffer.alloc(0);

/** The senders that share what bodies may hold. */
interface Share {
  readonly maxBytes: number;
  heldBytes: number;
  readonly bySender: Map<string, number>;
}

interface Arriving {
  receivedBytes: number;
  stretchFrom: number;
  /** What had been received when the stretch began. */
  stretchBytes: number;
  readonly fail: (error: Error) => void;
}

export function holdRequestBodies(limits: RequestBodyLimits): RequestBodies {
  const { maxHeldBytes, minBytesPerSecond, now, onSlow } = limits;
  const keyless: Share = shareOf(Math.floor(maxHeldBytes / KEYLESS_PART));
  const keyed: Share = shareOf(maxHeldBytes - keyless.maxBytes);
  const arriving = new Set<Arriving>();

  function read(request: FastifyRequest, limitBytes: number, done: BodyRead): void {
    const { raw } = request;
    const declaredBytes = declaredLength(raw);
    const account = request.key?.accountId;
    const share = account === undefined ? keyless : keyed;
    const sender = account ?? request.ip;
    const refusal = refusalOf(declaredBytes ?? 0, limitBytes, hasRoom(share, sender, 0, declaredBytes ?? 0));
    if (refusal !== null) {
      done(refusal, EMPTY);
      return;
    }
    expecting.get(raw)?.writeContinue();
    expecting.delete(raw);

    // One buffer that grows: a body in pieces of one byte would hold a hundred times its length as a list of them.
    let buffer: Buffer = EMPTY;
    let piecesLeft = account === undefined ? MOST_KEYLESS_PIECES : Number.POSITIVE_INFINITY;
    const state: Arriving = { receivedBytes: 0, stretchFrom: now(), stretchBytes: 0, fail: finish };
    arriving.add(state);
    listen(raw, 'data', onData);
    listen(raw, 'end', onEnd);
    listen(raw, 'error', finish);
    listen(raw, 'close', onClose);

    function finish(error: Error | null): void {
      if (!arriving.delete(state)) return;
      raw.off('data', onData).off('end', onEnd).off('error', finish).off('close', onClose);
      // A connection that breaks later on must not bring the process down.
      listen(raw, 'error', () => undefined);
      take(share, sender, -buffer.length);
      done(error, error === null ? buffer.subarray(0, state.receivedBytes) : EMPTY);
    }
    function onData(chunk: Buffer): void {
      const wholeBytes = state.receivedBytes + chunk.length;
      const most = Math.max(wholeBytes, declaredBytes ?? limitBytes);
      const grown = Math.min(Math.max(FIRST_BYTES, wholeBytes, buffer.length * 2), most);
      const moreBytes = wholeBytes > buffer.length ? grown - buffer.length : 0;
      const fits = moreBytes === 0 || hasRoom(share, sender, buffer.length, moreBytes);
      piecesLeft -= 1;
      const refused =
        piecesLeft < 0
          ? new ScrapifieError('BAD_REQUEST', `The body came in more than ${MOST_KEYLESS_PIECES} pieces.`)
          : refusalOf(wholeBytes, limitBytes, fits);
      if (refused !== null) {
        finish(refused);
        return;
      }
      if (moreBytes > 0) {
        take(share, sender, moreBytes);
        const larger = Buffer.allocUnsafeSlow(grown);
        buffer.copy(larger, 0, 0, state.receivedBytes);
        buffer = larger;
      }
      chunk.copy(buffer, state.receivedBytes);
      state.receivedBytes = wholeBytes;
    }
    function onEnd(): void {
      const isWhole = declaredBytes === null || declaredBytes === state.receivedBytes;
      finish(
        isWhole
          ? null
          : new ScrapifieError('MALFORMED_JSON', 'The body is not as long as Content-Length says.'),
      );
    }
    function onClose(): void {
      finish(new ScrapifieError('BAD_REQUEST', 'The request body did not arrive whole.'));
    }
  }

  function sweep(): void {
    const at = now();
    for (const each of arriving) {
      const elapsedMs = at - each.stretchFrom;
      if (elapsedMs < STRETCH_MS) continue;
      if ((each.receivedBytes - each.stretchBytes) * 1_000 < minBytesPerSecond * elapsedMs) {
        onSlow();
        each.fail(
          new ScrapifieError(
            'BODY_TOO_SLOW',
            `The request body arrives with less than ${minBytesPerSecond} bytes a second.`,
          ),
        );
      } else {
        each.stretchFrom = at;
        each.stretchBytes = each.receivedBytes;
      }
    }
  }
  const timer = setInterval(sweep, SWEEP_MS).unref();

  return {
    read,
    heldBytes: () => keyless.heldBytes + keyed.heldBytes,
    sweep,
    close: () => clearInterval(timer),
  };
}

const shareOf = (maxBytes: number): Share => ({ maxBytes, heldBytes: 0, bySender: new Map() });

/** Whether a body that holds `ownBytes` may hold more. One that is alone may, however large it is. */
function hasRoom(
  { maxBytes, heldBytes, bySender }: Share,
  sender: string,
  ownBytes: number,
  moreBytes: number,
): boolean {
  if (heldBytes === ownBytes) return true;
  if (heldBytes + moreBytes > maxBytes) return false;
  const bySame = bySender.get(sender) ?? 0;
  return bySame === ownBytes || bySame + moreBytes <= maxBytes / ONE_SENDER_PART;
}

function take(share: Share, sender: string, bytes: number): void {
  if (bytes === 0) return;
  share.heldBytes += bytes;
  const held = (share.bySender.get(sender) ?? 0) + bytes;
  if (held > 0) share.bySender.set(sender, held);
  else share.bySender.delete(sender);
}

/** Why a body of this length is not taken; null when it is. */
function refusalOf(bytes: number, limitBytes: number, hasRoomLeft: boolean): ScrapifieError | null {
  if (bytes > limitBytes) {
    return new ScrapifieError('BODY_TOO_LARGE', `The request body is larger than ${limitBytes} bytes.`);
  }
  if (hasRoomLeft) return null;
  return new ScrapifieError(
    'OVERLOADED',
    'Too many bytes of request bodies have arrived without their ends.',
  );
}

/** What Content-Length says; null for a body in chunks, or none. Node.js has refused what is no number. */
export function declaredLength({ headers }: Pick<IncomingMessage, 'headers'>): number | null {
  const length = headers['content-length'];
  return length === undefined || headers['transfer-encoding'] !== undefined ? null : Number(length);
}

/** Requests whose clients wait for "100 Continue" before they send the body, with what it is written to. */
const expecting = new WeakMap<IncomingMessage, ServerResponse>();

/** Lets such requests come in like any: their body is asked for when a route reads it. */
export function leaveContinueToRoutes(server: Server): void {
  listen(server, 'checkContinue', (request: IncomingMessage, response: ServerResponse) => {
    expecting.set(request, response);
    server.emit('request', request, response);
  });
}

/** Whether the client has not been told to send the body that it has announced. */
export const isWaitingToSend = (request: IncomingMessage): boolean => expecting.has(request);

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
