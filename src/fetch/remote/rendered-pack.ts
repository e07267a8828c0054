import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { ACTION_TYPES, type ActionResult, type CapturedXhr, type Picture } from '../../core/model/render.ts';
import { defined } from '../../lib/defined.ts';
import type { Rendered } from '../engine.ts';
import { parsed, read, storageSchema } from './render-message.ts';

/**
 * What there is of a page beyond its document, on its way between processes: a head in JSON that names parts by their
 * number, and behind it the bytes of the parts. One blob, however many pictures and answers there are.
 */
export interface Pack {
  readonly head: PackHead;
  readonly parts: readonly Uint8Array[];
}

/** What a caller takes; more than that is left behind by who packs. */
export const MOST_PACK_BYTES = 67_108_864;
const MOST_PARTS = 4_096;
const LENGTH_BYTES = 4;

const part = z.int().min(0).max(MOST_PARTS);
const picture = z.object({ part, contentType: z.enum(['image/png', 'image/jpeg']) });
const headSchema = z.object({
  sizes: z.array(z.int().min(0).max(MOST_PACK_BYTES)).max(MOST_PARTS),
  rawBody: part.nullable(),
  screenshot: picture.nullable(),
  pdf: part.nullable(),
  xhr: z.array(
    z.object({
      url: z.string(),
      method: z.string(),
      statusCode: z.number(),
      contentType: z.string().nullable(),
      body: part.nullable(),
      isTooLarge: z.boolean(),
    }),
  ),
  consoleErrors: z.array(z.string()),
  actions: z.array(
    z.object({
      type: z.enum(ACTION_TYPES),
      ms: z.number(),
      value: z.unknown().optional(),
      picture: picture.optional(),
    }),
  ),
  failurePicture: picture.optional(),
  storage: storageSchema.nullable(),
  puzzle: z
    .object({
      outcome: z.enum(['none', 'solved', 'unsolved']),
      kind: z.string().nullable(),
      solver: z.string().nullable(),
      ms: z.number(),
      costUsd: z.number().nullable(),
      note: z.string(),
    })
    .nullable()
    .optional(),
  failure: z
    .object({
      code: z.string(),
      message: z.string(),
      details: z.unknown().optional(),
      retryAfterMs: z.number().optional(),
    })
    .nullable(),
});
type PackHead = z.infer<typeof headSchema>;

export function packRendered(rendered: Rendered): Pack {
  const fitting = sizeOf(rendered) > MOST_PACK_BYTES ? withoutBytes(rendered) : rendered;
  const { rawBody, extra, failure } = fitting;
  const parts: Uint8Array[] = [];
  const add = (bytes: Uint8Array): number => parts.push(bytes) - 1;
  const addPicture = ({ bytes, contentType }: Picture) => ({ part: add(bytes), contentType });
  const head: Omit<PackHead, 'sizes'> = {
    rawBody: rawBody === null ? null : add(rawBody),
    screenshot: extra.screenshot === null ? null : addPicture(extra.screenshot),
    pdf: extra.pdf === null ? null : add(extra.pdf),
    xhr: extra.xhr.map(({ body, ...xhr }) => ({ ...xhr, body: body === null ? null : add(body) })),
    consoleErrors: [...extra.consoleErrors],
    actions: extra.actions.map(({ type, ms, value, picture: shot }) => ({
      type,
      ms,
      ...defined({ value }),
      ...(shot === undefined ? {} : { picture: addPicture(shot) }),
    })),
    ...(extra.failurePicture === undefined ? {} : { failurePicture: addPicture(extra.failurePicture) }),
    storage: extra.storage,
    ...defined({ puzzle: extra.captcha }),
    failure: failure === null ? null : written(failure),
  };
  return { head: { sizes: parts.map(({ byteLength }) => byteLength), ...head }, parts };
}

/** `mark` makes the blob unique, so that its receiver may delete it. */
export function writePack({ head, parts }: Pack, mark: string): Uint8Array {
  const json = Buffer.from(JSON.stringify({ ...head, mark }));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32BE(json.byteLength);
  return Buffer.concat([length, json, ...parts]);
}

/** Throws INTERNAL for bytes that are no pack, and BODY_LIMIT_EXCEEDED for a pack over the limit. */
export function readPack(bytes: Uint8Array): Rendered {
  if (bytes.byteLength > 2 * MOST_PACK_BYTES) throw tooMuch();
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const jsonBytes = buffer.byteLength < LENGTH_BYTES ? 0 : buffer.readUInt32BE(0);
  let at = LENGTH_BYTES + jsonBytes;
  const head = readHead(parsed(buffer.subarray(LENGTH_BYTES, at)));
  const parts = head.sizes.map((size) => {
    const end = at + size;
    if (end > buffer.byteLength) throw notOne();
    const own = new Uint8Array(buffer.subarray(at, end));
    at = end;
    return own;
  });
  return renderedOf(head, parts);
}

/** Reads the head of a pack without parts, which needs no blob. */
export function readHeadAlone(message: unknown): Rendered {
  return renderedOf(readHead(message), []);
}

const readHead = (message: unknown): PackHead => read(headSchema, message, 'What was rendered');

function renderedOf(head: PackHead, parts: readonly Uint8Array<ArrayBuffer>[]): Rendered {
  const take = (index: number): Uint8Array<ArrayBuffer> => {
    const bytes = parts[index];
    if (bytes === undefined) throw notOne();
    return bytes;
  };
  const takePicture = (from: z.infer<typeof picture>): Picture => ({
    bytes: take(from.part),
    contentType: from.contentType,
  });
  const xhr = head.xhr.map(
    ({ body, ...each }): CapturedXhr => ({ ...each, body: body === null ? null : take(body) }),
  );
  const actions = head.actions.map(
    ({ type, ms, value, picture: shot }): ActionResult => ({
      type,
      ms,
      ...defined({ value }),
      ...(shot === undefined ? {} : { picture: takePicture(shot) }),
    }),
  );
  return {
    rawBody: head.rawBody === null ? null : take(head.rawBody),
    extra: {
      screenshot: head.screenshot === null ? null : takePicture(head.screenshot),
      pdf: head.pdf === null ? null : take(head.pdf),
      xhr,
      consoleErrors: head.consoleErrors,
      actions,
      ...(head.failurePicture === undefined ? {} : { failurePicture: takePicture(head.failurePicture) }),
      storage: head.storage,
      ...defined({ captcha: head.puzzle }),
    },
    failure: head.failure === null ? null : errorOf(head.failure),
  };
}

function sizeOf({ rawBody, extra }: Rendered): number {
  const { screenshot, pdf, xhr, actions, failurePicture } = extra;
  const all = [rawBody, screenshot?.bytes, failurePicture?.bytes, pdf, ...xhr.map(({ body }) => body)];
  const shots = actions.map(({ picture: shot }) => shot?.bytes);
  return [...all, ...shots].reduce((sum, bytes) => sum + (bytes?.byteLength ?? 0), 0);
}

/** Keeps the document and the failure when everything else is too large. */
function withoutBytes({ extra, failure }: Rendered): Rendered {
  return {
    rawBody: null,
    extra: {
      ...extra,
      screenshot: null,
      pdf: null,
      xhr: extra.xhr.map((xhr) => ({ ...xhr, body: null, isTooLarge: xhr.body !== null || xhr.isTooLarge })),
      actions: extra.actions.map(({ picture: _, ...action }) => action),
      failurePicture: undefined,
    },
    failure: failure ?? tooMuch(),
  };
}

function written({ code, message, details, retryAfterMs }: ScrapifieError) {
  return {
    code,
    message,
    ...defined({ details, retryAfterMs }),
  };
}

function errorOf({ code, message, ...more }: NonNullable<PackHead['failure']>): ScrapifieError {
  // A worker of a newer version may know codes that this one does not.
  const known: ErrorCode = Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'INTERNAL';
  const { details, retryAfterMs } = more;
  return new ScrapifieError(known, message, {
    ...defined({ details, retryAfterMs }),
  });
}

const notOne = () => new ScrapifieError('INTERNAL', 'What was rendered is not one: parts');
const tooMuch = () =>
  new ScrapifieError(
    'BODY_LIMIT_EXCEEDED',
    `Pictures, PDF and answers of a page take at most ${MOST_PACK_BYTES} bytes together`,
  );
