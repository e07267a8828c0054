import type { IncomingMessage } from 'node:http';
import type { FastifyRequest } from 'fastify';
import { listen } from '../../errors/guarded.ts';
import { ScrapifieError } from '../../errors/scrapifie-error.ts';
import { invalidRequest } from '../../jobs/invalid-request.ts';
import type { App } from './app.ts';
import { type ShapeProblem, shapeProblem } from './json-shape.ts';

/** A client that sends this many times the limit is cut off after all. */
const PATIENCE = 8;

/**
 * Bodies are JSON and nothing else. One that is too large is read to its end and thrown away before it is refused:
 * a client that is still writing when the connection closes would see a reset instead of the answer.
 */
export function readJsonBodies(app: App, limitBytes: number): void {
  const parseJson = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  function parse(
    request: FastifyRequest,
    body: string,
    done: (error: Error | null, body?: unknown) => void,
  ): void {
    let problem: ShapeProblem | null;
    try {
      problem = shapeProblem(body);
    } catch (error) {
      // This runs in a listener of the stream: what it throws would end the process instead of the request.
      done(error as Error);
      return;
    }
    if (problem !== null) done(invalidRequest([problem]));
    else
      parseJson(request, body, (error: Error | null, parsed?: unknown) => {
        const field = error === null ? null : forbiddenField(body);
        if (field === null) done(error, parsed);
        else done(invalidRequest([{ field, message: `Unknown field "${field}".` }]));
      });
  }
  app.addContentTypeParser('application/json', (request, payload: IncomingMessage, done) => {
    readText(payload, limitBytes, (error, body) => {
      const coding = request.headers['content-encoding'] ?? 'identity';
      if (error !== null) done(error);
      else if (coding !== 'identity') done(compressed(coding));
      // Many clients name the type of a body they do not send.
      else if (body === '') done(null, undefined);
      else {
        parse(request, body, done);
      }
    });
  });
}

/** The key for which valid JSON was refused, because it would change what objects are; null when it is no JSON. */
function forbiddenField(body: string): string | null {
  let field: string | null = null;
  try {
    JSON.parse(body, (key, value: unknown) => {
      if (key === '__proto__' || key === 'constructor') field ??= key;
      return value;
    });
  } catch {
    return null;
  }
  return field;
}

const compressed = (coding: string) =>
  new ScrapifieError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Send the body without Content-Encoding; ${coding.slice(0, 40)} is not accepted.`,
  );

/** By events: this stands in the way of every request, and iterating a stream costs more than parsing most bodies. */
function readText(
  payload: IncomingMessage,
  limitBytes: number,
  done: (error: Error | null, body: string) => void,
): void {
  let chunks: Buffer[] = [];
  let bytes = 0;
  const finish = (error: Error | null, body = '') => {
    payload.off('data', onData).off('end', onEnd).off('error', finish);
    // A connection that breaks later on must not bring the process down.
    payload.on('error', () => undefined);
    done(error, body);
  };
  const tooLarge = () =>
    new ScrapifieError('BODY_TOO_LARGE', `The request body is larger than ${limitBytes} bytes.`);
  const onData = (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= limitBytes) chunks.push(chunk);
    else if (bytes > limitBytes * PATIENCE) finish(tooLarge());
    else if (chunks.length > 0) chunks = [];
  };
  const onEnd = () => {
    if (bytes > limitBytes) finish(tooLarge());
    else finish(null, Buffer.concat(chunks, bytes).toString('utf8'));
  };
  listen(payload, 'data', onData);
  listen(payload, 'end', onEnd);
  listen(payload, 'error', finish);
}
