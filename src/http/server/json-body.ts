import type { FastifyRequest } from 'fastify';
import { invalidRequest } from '../../capabilities/jobs/request/invalid-request.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { App } from './app.ts';
import { type BodyRead, KEYLESS_BODY_BYTES, type RequestBodies } from './request-bodies.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Reads the whole body of a request, up to the size that its route and its key allow. Parsers of bodies that are not JSON use it. */
    readBody(request: FastifyRequest, done: BodyRead): void;
  }
}

/** What a body without a key may look like: the routes that take one want a few fields. */
const KEYLESS_SHAPE: BodyShape = { maxDepth: 8, maxValues: 200, maxNames: 50 };

/** What a request body may look like before anything that recurses or that works per value sees it. */
const BODY_SHAPE: BodyShape = { maxDepth: 100, maxValues: 200_000, maxNames: 10_000 };

const FIELD_PARTS = 3;
const MAX_KEY_CHARS = 100;
/** No number that means something has more digits; reading millions takes long. */
const MAX_BARE_CHARS = 1_000;
const SPACE = 0x20;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const OPEN_ARRAY = 0x5b;
const CLOSE_ARRAY = 0x5d;

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

interface BodyShape {
  readonly maxDepth: number;
  readonly maxValues: number;
  /** Names in one object; each new one costs a parser more than a value does. */
  readonly maxNames: number;
}

interface ShapeProblem {
  /** Where it begins, such as `extract.rules`; empty when it is the body as a whole. */
  readonly field: string;
  readonly message: string;
}

/**
 * Finds out in one pass over the text, without parsing it, whether arrays and objects are nested too deep or are too
 * many: parsers and validators use the stack for the one and time for the other. Null when the shape is fine. What is
 * not valid JSON is the parser's to refuse.
 */
export function shapeProblem(text: string, limits: BodyShape = BODY_SHAPE): ShapeProblem | null {
  let depth = 0;
  let values = 1;
  /** The key (as it stands in the text) or index at each of the first levels. */
  const path: (string | number)[] = [];
  /** How many names the object at each level has so far. */
  const names: number[] = [];
  let lastString = '';
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      const end = endOfString(text, at);
      if (depth <= FIELD_PARTS) lastString = text.slice(at + 1, Math.min(end, at + 1 + MAX_KEY_CHARS));
      at = end;
    } else if (code === COLON) {
      if (depth <= FIELD_PARTS) path[depth - 1] = lastString;
      const count = (names[depth - 1] ?? 0) + 1;
      names[depth - 1] = count;
      if (count > limits.maxNames) {
        const message = `Too many names: an object may have at most ${limits.maxNames}.`;
        return { field: path.slice(0, depth - 1).join('.'), message };
      }
    } else if (code === COMMA) {
      values++;
      const index = path[depth - 1];
      if (typeof index === 'number') path[depth - 1] = index + 1;
    } else if (code === OPEN_OBJECT || code === OPEN_ARRAY) {
      values++;
      names[depth] = 0;
      depth++;
      if (depth <= FIELD_PARTS) {
        path.length = depth - 1;
        if (code === OPEN_ARRAY) path.push(0);
      }
      if (depth > limits.maxDepth) {
        const message = `Nested too deep: at most ${limits.maxDepth} arrays and objects may stand within each other.`;
        return { field: path.join('.'), message };
      }
    } else if (code === CLOSE_OBJECT || code === CLOSE_ARRAY) {
      depth--;
      // More is closed than was opened: no JSON.
      if (depth < 0) return null;
    } else if (code > SPACE) {
      const end = endOfBare(text, at);
      if (end - at > MAX_BARE_CHARS) {
        return { field: path.join('.'), message: `A number has more than ${MAX_BARE_CHARS} characters.` };
      }
      at = end - 1;
    }
    if (values > limits.maxValues) {
      const message = `Too many values: a request body may have at most ${limits.maxValues}.`;
      return { field: String(path[0] ?? ''), message };
    }
  }
  return null;
}

/** The place after a number, or after `true`, `false` or `null`. */
function endOfBare(text: string, start: number): number {
  for (let end = start + 1; end < text.length; end++) {
    const code = text.charCodeAt(end);
    const isEnd =
      code <= SPACE || code === COMMA || code === CLOSE_ARRAY || code === CLOSE_OBJECT || code === QUOTE;
    if (isEnd || code === COLON || code === OPEN_ARRAY || code === OPEN_OBJECT) return end;
  }
  return text.length;
}

/** The place of the closing quote, or of the end of the text. */
function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return end;
  }
  return text.length;
}
