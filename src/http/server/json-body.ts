import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../../capabilities/jobs/invalid-request.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { App } from './app.ts';
import { BODY_SHAPE, type BodyShape, shapeProblem } from './json-shape.ts';
import { type BodyRead, KEYLESS_BODY_BYTES, type RequestBodies } from './request-bodies.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Reads the body of a request, as far as its route and its key allow; for parsers of what is not JSON. */
    readBody(request: FastifyRequest, done: BodyRead): void;
  }
}

/** What a body without a key may look like: the routes that take one want a few fields. */
const KEYLESS_SHAPE: BodyShape = { maxDepth: 8, maxValues: 200, maxNames: 50 };

/**
 * Bodies are JSON, unless a route has a parser of its own. They are read after the request has been let in, and only for
 * a route that exists: without a key at most `KEYLESS_BODY_BYTES`, with one the `bodyLimit` of the route, which by default
 * is that of the settings.
 */
export function readJsonBodies(app: App, bodies: RequestBodies): void {
  app.removeAllContentTypeParsers();
  app.decorate('readBody', (request: FastifyRequest, done: BodyRead) => {
    const { key, routeOptions } = request;
    const ofRoute = routeOptions.bodyLimit;
    bodies.read(request, key === null ? Math.min(KEYLESS_BODY_BYTES, ofRoute) : ofRoute, done);
  });
  app.addContentTypeParser('application/json', (request, _payload, done) => {
    // Nothing is at that path, so nothing reads the body.
    if (request.is404) return done(null, undefined);
    const coding = request.headers['content-encoding'] ?? 'identity';
    if (coding !== 'identity') return done(compressed(coding), undefined);
    app.readBody(request, (error, bytes) => {
      if (error !== null) return done(error, undefined);
      // Many clients name the type of a body they do not send.
      if (bytes.length === 0) return done(null, undefined);
      let value: unknown;
      try {
        value = parseBoundedJson(bytes.toString('utf8'), request.key === null ? KEYLESS_SHAPE : BODY_SHAPE);
      } catch (refused) {
        return done(refused as Error, undefined);
      }
      done(null, value);
    });
  });
}

/** Throws VALIDATION_FAILED for JSON of a shape that costs too much, or with a forbidden name, and MALFORMED_JSON. */
export function parseBoundedJson(text: string, shape: BodyShape = BODY_SHAPE): unknown {
  const problem = shapeProblem(text, shape);
  if (problem !== null) throw invalidRequest([problem]);
  let value: unknown;
  try {
    value = JSON.parse(text.charCodeAt(0) === BYTE_ORDER_MARK ? text.slice(1) : text);
  } catch {
    throw new ScrapifieError('MALFORMED_JSON', 'The request body is not valid JSON.');
  }
  const field = SUSPECT.test(text) ? forbiddenField(value) : null;
  if (field === null) return value;
  throw invalidRequest([{ field, message: `Unknown field "${field}".` }]);
}

const BYTE_ORDER_MARK = 0xfeff;
/** Text without any of these has no forbidden field; `\\u` could spell one. */
const SUSPECT = /__proto__|constructor|\\u/;

/** A key that would change what objects are; null when the value has none. */
function forbiddenField(value: unknown): string | null {
  const waiting: unknown[] = [value];
  while (waiting.length > 0) {
    const each = waiting.pop();
    if (typeof each !== 'object' || each === null) continue;
    if (Object.hasOwn(each, '__proto__')) return '__proto__';
    if (Object.hasOwn(each, 'constructor')) {
      const { constructor: own } = each;
      if (typeof own === 'object' && own !== null && Object.hasOwn(own, 'prototype')) return 'constructor';
    }
    for (const below of Object.values(each)) if (typeof below === 'object') waiting.push(below);
  }
  return null;
}

const compressed = (coding: string) =>
  new ScrapifieError(
    'UNSUPPORTED_MEDIA_TYPE',
    `Send the body without Content-Encoding; ${coding.slice(0, 40)} is not accepted.`,
  );
