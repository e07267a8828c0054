import { guarded } from '../core/errors/guarded.ts';
import { isScrapifieError, ScrapifieError } from '../core/errors/scrapifie-error.ts';
import type { CapturedXhr } from '../core/model/render.ts';
import { noFreeWorker } from '../core/ports/queue.ts';
import { FRAME_LIMITS } from '../extract/scan/inline-frames.ts';
import { defined } from '../lib/defined.ts';
import { urlPart } from '../lib/url-part.ts';
import type { Engine, FetchRequest, FetchResponse, Rendered, ResponseHeaders } from './engine.ts';

/**
 * Engines that share a number of places. A request waits for one before the attempt's time begins, because how busy the
 * browsers are says nothing about the site, and ends with BROWSERS_BUSY when none is free within `waitMs`.
 */
export function limitConcurrency<Name extends string>(
  engines: Readonly<Record<Name, Engine>>,
  places: number,
  waitMs: number,
): Readonly<Record<Name, Engine>> {
  let free = places;
  /** In order of arrival; bounded by the fetches of the process. */
  const waiting = new Set<() => void>();

  async function take({ signal }: FetchRequest): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const onAbort = guarded(() => {
      waiting.delete(resolve);
      reject(cancelled(signal?.reason));
    });
    if (signal?.aborted === true) throw cancelled(signal.reason);
    signal?.addEventListener('abort', onAbort, { once: true });
    waiting.add(resolve);
    const timer = setTimeout(() => {
      if (waiting.delete(resolve)) reject(noFreeWorker(waitMs));
    }, waitMs);
    try {
      await promise;
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', onAbort);
    }
  }

  function give(): void {
    const [first] = waiting;
    if (first === undefined) free += 1;
    else {
      waiting.delete(first);
      first();
    }
  }

  const limited = (engine: Engine): Engine => ({
    name: engine.name,
    async fetch(request) {
      await take(request);
      try {
        return await engine.fetch(request);
      } finally {
        give();
      }
    },
    close: () => engine.close(),
  });
  const entries = Object.entries<Engine>(engines).map(([name, engine]) => [name, limited(engine)]);
  return Object.fromEntries(entries) as Record<Name, Engine>;
}

function cancelled(reason: unknown): ScrapifieError {
  if (isScrapifieError(reason)) return reason;
  return new ScrapifieError('CANCELLED', 'The request was cancelled', { cause: reason });
}

interface OwnPagesOptions {
  /** Whole URLs, as a task has them; asked at each fetch, because a server knows its address only once it listens. */
  readonly urls: () => readonly string[];
  /** Makes an engine that may connect to this machine; called at most once, when a page of ours is first asked for. */
  readonly open: () => Engine;
}

/**
 * An engine that can also fetch a few pages of the server it works for, which the address guard would refuse. The
 * exception is a list of whole URLs, not an address or a port: everything else on this machine stays out of reach.
 * Such a page gets a plain GET that carries nothing of the caller's and follows no redirect.
 */
export function withOwnPages(engine: Engine, options: OwnPagesOptions): Engine {
  let own: Engine | null = null;
  return {
    name: engine.name,
    async fetch(request) {
      if (request.method !== 'GET' || !options.urls().includes(request.url)) return engine.fetch(request);
      own ??= options.open();
      return own.fetch({ ...request, headers: {}, cookies: {}, jar: undefined, maxRedirects: 0 });
    },
    async close() {
      await Promise.all([engine.close(), own?.close()]);
    },
  };
}

/** Stands in responses for a secret that the caller must not see. */
const HIDDEN = '[hidden]';
/** A shorter one is found all over a page that has nothing to do with it. */
const LEAST_CHARS = 4;

/**
 * An engine whose responses hold none of `request.secrets`: not as they are, and not in the ways in which pages write them
 * (HTML, URLs, JSON, base64, hex). Cookies and storage are left as they are, because a session keeps them.
 */
export function withholdSecrets(engine: Engine): Engine {
  return {
    name: engine.name,
    async fetch(request) {
      const response = await engine.fetch(request);
      const forms = formsOf(request.secrets);
      return forms.length === 0 ? response : withoutForms(response, forms);
    },
    close: () => engine.close(),
  };
}

/** Whether the text holds one of the secrets, in any form. */
export function holdsSecret(text: string, secrets: FetchRequest['secrets']): boolean {
  return formsOf(secrets).some((form) => text.includes(form));
}

const NONE: readonly string[] = [];

function formsOf(secrets: FetchRequest['secrets'] = NONE): readonly string[] {
  if (secrets.length === 0) return NONE;
  const forms = secrets.filter(({ length }) => length >= LEAST_CHARS).flatMap(waysToWrite);
  // The longest first: a form may be part of another.
  return [...new Set(forms)].sort((one, other) => other.length - one.length);
}

const ENTITIES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };
const QUOTES: Readonly<Record<string, string>> = { ...ENTITIES, '"': '&quot;' };
const ALL_QUOTES: Readonly<Record<string, string>> = { ...QUOTES, "'": '&#39;' };

function waysToWrite(secret: string): readonly string[] {
  const escaped = (by: Readonly<Record<string, string>>) =>
    secret.replace(/[&<>"']/g, (mark) => by[mark] ?? mark);
  const inUrl = urlPart(secret.toWellFormed());
  const bytes = Buffer.from(secret);
  const inPage = [
    secret,
    // A page that writes it without escaping it: a browser reads markup in it and serializes only this mark otherwise.
    secret.replaceAll('&', '&amp;'),
    escaped(ENTITIES),
    escaped(QUOTES),
    escaped(ALL_QUOTES),
    JSON.stringify(secret).slice(1, -1),
  ];
  const forms = [
    ...inPage,
    ...inFrames(inPage),
    inUrl,
    inUrl.replaceAll('%20', '+'),
    new URLSearchParams([['', secret]]).toString().slice(1),
    bytes.toString('hex'),
  ];
  // In base64 the neighbours of a secret change how its ends are written: its middle is looked for at each offset.
  for (const offset of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      .replace(/=+$/, '');
    const middle = encoded.slice(offset === 0 ? 0 : 4, (offset + bytes.length) % 3 === 0 ? undefined : -1);
    if (middle.length >= 2 * LEAST_CHARS)
      forms.push(middle, middle.replaceAll('+', '-').replaceAll('/', '_'));
  }
  return forms.filter(({ length }) => length >= LEAST_CHARS);
}

/** The document of a frame stands in an attribute of the page around it, which escapes it once more at each level. */
function inFrames(inPage: readonly string[]): readonly string[] {
  const forms: string[] = [];
  let level = [...new Set(inPage)];
  for (let depth = 1; depth <= FRAME_LIMITS.depth; depth += 1) {
    const write = (marks: RegExp) => level.map((form) => form.replace(marks, (mark) => QUOTES[mark] ?? mark));
    // Older browsers leave angle brackets in attributes as they are.
    level = [...new Set([...write(/[&"]/g), ...write(/[&"<>]/g)])];
    forms.push(...level);
  }
  return forms;
}

type Forms = readonly string[];

function withoutForms(response: FetchResponse, forms: Forms): FetchResponse {
  const { rendered } = response;
  return {
    ...response,
    finalUrl: urlWithout(response.finalUrl, forms),
    headers: headersWithout(response.headers, forms),
    body: bytesWithout(response.body, forms),
    ...(rendered === undefined ? {} : { rendered: renderedWithout(rendered, forms) }),
  };
}

function renderedWithout({ rawBody, extra, failure }: Rendered, forms: Forms): Rendered {
  return {
    rawBody: rawBody === null ? null : bytesWithout(rawBody, forms),
    extra: {
      ...extra,
      xhr: extra.xhr.map(
        (xhr): CapturedXhr => ({
          ...xhr,
          url: textWithout(xhr.url, forms),
          body: xhr.body === null ? null : bytesWithout(xhr.body, forms),
        }),
      ),
      consoleErrors: extra.consoleErrors.map((line) => textWithout(line, forms)),
    },
    failure:
      failure === null
        ? null
        : new ScrapifieError(failure.code, textWithout(failure.message, forms), {
            ...defined({ details: failure.details }),
          }),
  };
}

const textWithout = (text: string, forms: Forms): string =>
  forms.reduce((rest, form) => rest.replaceAll(form, HIDDEN), text);

function urlWithout(url: string, forms: Forms): string {
  const shown = textWithout(url, forms);
  return shown === url || URL.canParse(shown) ? shown : new URL(url).origin;
}

function headersWithout(headers: ResponseHeaders, forms: Forms): ResponseHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      // Kept by the session, and in no answer.
      if (name === 'set-cookie' || value === undefined) return [name, value];
      const shown =
        typeof value === 'string' ? textWithout(value, forms) : value.map((each) => textWithout(each, forms));
      return [name, shown];
    }),
  );
}

/** Returns the given bytes when they hold no form. */
function bytesWithout<T extends Uint8Array>(bytes: T, forms: Forms): T | Uint8Array<ArrayBuffer> {
  let rest: T | Uint8Array<ArrayBuffer> = bytes;
  for (const form of forms) rest = replaced(rest, Buffer.from(form));
  return rest;
}

function replaced<T extends Uint8Array>(bytes: T, form: Buffer): T | Uint8Array<ArrayBuffer> {
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = source.indexOf(form); at !== -1; at = source.indexOf(form, from)) {
    parts.push(source.subarray(from, at), Buffer.from(HIDDEN));
    from = at + form.length;
  }
  if (parts.length === 0) return bytes;
  // On a buffer of its own: the body may be transferred to a thread.
  return new Uint8Array(Buffer.concat([...parts, source.subarray(from)]));
}
