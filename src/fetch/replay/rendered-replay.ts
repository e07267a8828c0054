import { z } from 'zod';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { ACTION_TYPES, type CapturedXhr, type Picture } from '../../core/model/render.ts';
import type { FetchRequest, FetchResponse, Rendered } from '../engine.ts';
import { readMessage, readResource } from './archived-message.ts';
import { type Capture, fileOf, notInArchive, type ReplayArchive } from './replay-index.ts';

const renderedSchema = z.object({
  contentType: z.string().nullable(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  hasRaw: z.boolean(),
  artifacts: z.array(z.object({ name: z.string(), contentType: z.string(), id: z.string() })),
  xhr: z.array(
    z.object({
      url: z.string(),
      method: z.string(),
      statusCode: z.number(),
      contentType: z.string().nullable(),
      isTooLarge: z.boolean(),
      id: z.string().optional(),
    }),
  ),
  consoleErrors: z.array(z.string()),
  actions: z.array(z.object({ type: z.enum(ACTION_TYPES), ms: z.number(), value: z.unknown().optional() })),
  failure: z.object({ code: z.string(), message: z.string(), step: z.string().nullable() }).nullable(),
});

const factsSchema = z.object({
  statusCode: z.number().nullable().optional(),
  error: z.object({ code: z.string(), message: z.string() }).nullable().optional(),
  rendered: renderedSchema.optional(),
});
type Facts = z.infer<typeof factsSchema>;
type RenderedFacts = z.infer<typeof renderedSchema>;

const MAX_FACTS_BYTES = 16_777_216;
const FACTS_LIMITS = { maxBodyBytes: MAX_FACTS_BYTES };

/** What Scrapifie wrote about a page. An archive may hold anything: facts that do not fit are none. */
export async function readFacts(archive: ReplayArchive, capture: Capture): Promise<Facts> {
  const { body } = await readResource(fileOf(archive, capture), capture.offset, FACTS_LIMITS);
  try {
    return factsSchema.parse(JSON.parse(Buffer.from(body).toString('utf8')));
  } catch {
    return {};
  }
}

/** Adds to the answer what a browser had made of the page, where the archive has it. */
export function createRenderedReplay(archive: ReplayArchive) {
  const { index } = archive;

  async function bytesOf(id: string, request: FetchRequest): Promise<Uint8Array<ArrayBuffer> | null> {
    const capture = index.byId(id);
    if (capture === null) return null;
    const source = fileOf(archive, capture);
    const { body } =
      capture.kind === 'response'
        ? await (await readMessage(source, capture.offset)).body(request)
        : await readResource(source, capture.offset, request);
    return body;
  }

  async function artifact(facts: RenderedFacts, name: string, request: FetchRequest) {
    const found = facts.artifacts.find((each) => each.name === name);
    const bytes = found === undefined ? null : await bytesOf(found.id, request);
    return found === undefined || bytes === null ? null : { bytes, contentType: found.contentType };
  }

  async function picture(facts: RenderedFacts, name: string, request: FetchRequest): Promise<Picture | null> {
    const found = await artifact(facts, name, request);
    if (found === null) return null;
    return {
      bytes: found.bytes,
      contentType: found.contentType === 'image/jpeg' ? 'image/jpeg' : 'image/png',
    };
  }

  async function renderedOf(
    facts: RenderedFacts,
    rawBody: Rendered['rawBody'],
    request: FetchRequest,
  ): Promise<Rendered> {
    const xhr: CapturedXhr[] = [];
    for (const { id, ...answer } of facts.xhr) {
      xhr.push({ ...answer, body: id === undefined ? null : await bytesOf(id, request) });
    }
    const actions: Rendered['extra']['actions'][number][] = [];
    for (const [at, action] of facts.actions.entries()) {
      const shown = await picture(facts, `action-${at}`, request);
      actions.push(shown === null ? action : { ...action, picture: shown });
    }
    const failurePicture = await picture(facts, 'failure', request);
    const pdf = await artifact(facts, 'pdf', request);
    return {
      rawBody,
      extra: {
        screenshot: await picture(facts, 'view', request),
        pdf: pdf?.bytes ?? null,
        xhr,
        actions,
        consoleErrors: facts.consoleErrors,
        storage: null,
        ...(failurePicture === null ? {} : { failurePicture }),
      },
      failure: failureOf(facts),
    };
  }

  return async function replayRendered(
    response: FetchResponse,
    capture: Capture,
    request: FetchRequest,
  ): Promise<FetchResponse> {
    const written = index.factsOf(capture);
    const facts = written === null ? {} : await readFacts(archive, written);
    const { rendered } = facts;
    if (rendered === undefined) {
      refuseUnrendered(request, response.finalUrl);
      return response;
    }
    const conversion = rendered.hasRaw ? index.conversionOf(capture) : null;
    const body =
      conversion === null
        ? response.body
        : (await readResource(fileOf(archive, conversion), conversion.offset, request)).body;
    const shown = await renderedOf(rendered, rendered.hasRaw ? response.body : null, request);
    refuseMissing(request, shown, response.finalUrl);
    return {
      ...response,
      statusCode: facts.statusCode ?? response.statusCode,
      headers: rendered.hasRaw ? response.headers : headersOf(rendered),
      contentType: rendered.contentType,
      body,
      rendered: shown,
    };
  };
}

function headersOf({ headers }: RenderedFacts): FetchResponse['headers'] {
  const found: Record<string, string | string[]> = {};
  for (const [name, value] of headers) {
    if (name === '__proto__') continue;
    const known = found[name];
    found[name] = known === undefined ? value : [...[known].flat(), value];
  }
  return found;
}

function failureOf({ failure }: RenderedFacts): ScrapifieError | null {
  if (failure === null || !Object.hasOwn(ERRORS, failure.code)) return null;
  const { code, message, step } = failure;
  return new ScrapifieError(code as ErrorCode, message, step === null ? {} : { details: { step } });
}

/** An archive cannot do on a page what was not done when it was recorded. */
function refuseUnrendered({ render }: FetchRequest, url: string): void {
  const { screenshot, pdf, captureXhr, actions = [] } = render ?? {};
  if (screenshot === undefined && pdf !== true && captureXhr !== true && actions.length === 0) return;
  throw notInArchive(
    `${url.slice(0, 500)} is in the archive as its server sent it, not as a browser showed it.`,
  );
}

function refuseMissing({ render }: FetchRequest, { extra }: Rendered, url: string): void {
  if (render?.screenshot !== undefined && extra.screenshot === null) {
    throw notInArchive(`The archive has no screenshot of ${url.slice(0, 500)}.`);
  }
  if (render?.pdf === true && extra.pdf === null) {
    throw notInArchive(`The archive has no PDF of ${url.slice(0, 500)}.`);
  }
}
