import type { ErrorCode } from '../../core/errors/registry.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type {
  ArtifactRef,
  NewPage,
  Page,
  PageRecord,
  PageRedirect,
  SetCookie,
} from '../../core/model/page.ts';
import { unpackRecord } from '../../core/model/page-record.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import { defined } from '../../lib/defined.ts';
import type { HeaderLine } from '../../lib/warc/warc-record.ts';
import { HIDDEN_VALUE, hideSecrets } from '../sessions/secret-fields.ts';

/** What was asked for and answered for one URL, redirects included, as an archive keeps it. Secrets are not in it. */
export interface Exchange {
  /** Names the exchange: the same for the same one, also after a crash. */
  readonly key: readonly (string | number)[];
  readonly url: string;
  readonly finalUrl: string;
  readonly method: string;
  readonly requestHeaders: readonly HeaderLine[];
  readonly fetchedAt: number;
  /** Null when no response came. */
  readonly statusCode: number | null;
  readonly headers: readonly HeaderLine[];
  readonly redirects: readonly PageRedirect[];
  /** After decoding. Null when it is no longer kept; empty when the response had none. */
  readonly body: Uint8Array | null;
  readonly contentType: string | null;
  /** The host said that the page has not changed; the body is that of an earlier request. */
  readonly isNotModified: boolean;
  /** The rest of a page that a browser has shown; null for any other. */
  readonly rendered: RenderedExchange | null;
  readonly error: { readonly code: ErrorCode; readonly message: string } | null;
  /** Facts of the stored page; null when the exchange became no page: robots.txt, a sitemap, a page that was read for its links alone. */
  readonly page: PageFacts | null;
}

export interface PageFacts {
  readonly depth: number;
  readonly title: string | null;
  readonly outcome: string | null;
  readonly evidence: string | null;
  readonly contentHash: string | null;
  readonly textHash: string | null;
  readonly duplicateOf: string | null;
}

export interface RenderedExchange {
  /** The document as the server sent it; null when that was not kept. */
  readonly raw: Uint8Array | null;
  /** Pictures and documents, by the name of what they show. */
  readonly artifacts: readonly NamedBytes[];
  readonly xhr: readonly ArchivedXhr[];
  readonly consoleErrors: readonly string[];
  readonly actions: readonly { readonly type: string; readonly ms: number; readonly value?: unknown }[];
  readonly failure: { readonly code: string; readonly message: string; readonly step: string | null } | null;
}

export interface NamedBytes {
  /** `view` for the screenshot, `pdf`, `action-0` …, `failure`. */
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

export interface ArchivedXhr {
  readonly url: string;
  readonly method: string;
  readonly statusCode: number;
  readonly contentType: string | null;
  readonly isTooLarge: boolean;
  /** Null when there was none, or too much. */
  readonly body: Uint8Array | null;
}

export type ArchivedJob = Pick<Job, 'id' | 'options'>;
type BlobReader = Pick<Blobs, 'get'>;

/** A stored page, with its bodies. */
export async function exchangeOfPage(page: Page, job: ArchivedJob, blobs: BlobReader): Promise<Exchange> {
  return exchangeOf(page, ['page', job.id, String(page.taskId), page.fetchedAt], job, blobs, {
    isPage: true,
    hasBodies: page.expired?.includes('bodies') !== true,
    hasArtifacts: page.expired?.includes('artifacts') !== true,
  });
}

/** A page that was read and not kept. */
export async function exchangeOfUnkept(
  page: NewPage,
  key: Exchange['key'],
  job: ArchivedJob,
  blobs: BlobReader,
): Promise<Exchange> {
  return exchangeOf(page, key, job, blobs, { isPage: false, hasBodies: true, hasArtifacts: true });
}

async function exchangeOf(
  page: NewPage,
  key: Exchange['key'],
  job: ArchivedJob,
  blobs: BlobReader,
  kept: { readonly isPage: boolean; readonly hasBodies: boolean; readonly hasArtifacts: boolean },
): Promise<Exchange> {
  const record = recordOf(page);
  const { outcome, evidence, rendered, cache } = record;
  const bodyOf = async (hash: ContentHash | null) =>
    hash === null ? new Uint8Array() : kept.hasBodies ? await blobs.get(hash) : null;
  return {
    key,
    url: page.url,
    finalUrl: page.finalUrl,
    ...requestOf(job),
    fetchedAt: cache === undefined ? page.fetchedAt : Date.parse(cache.storedAt),
    statusCode: page.statusCode,
    headers: headerLines(record, job),
    redirects: record.redirects ?? [],
    body: await bodyOf(page.contentHash),
    contentType: page.contentType,
    isNotModified: record.notModified === true,
    rendered:
      rendered === undefined
        ? null
        : await renderedOf(rendered, {
            body: bodyOf,
            artifact: async ({ contentHash }) => (kept.hasArtifacts ? await blobs.get(contentHash) : null),
          }),
    error:
      page.errorCode === null ? null : { code: page.errorCode, message: page.errorMessage ?? page.errorCode },
    page: kept.isPage
      ? {
          depth: page.depth,
          title: page.title,
          outcome: outcome ?? null,
          evidence: evidence ?? null,
          contentHash: page.contentHash,
          textHash: page.textHash,
          duplicateOf: page.duplicateOf,
        }
      : null,
  };
}

const EMPTY_RECORD: PageRecord = { metadata: null, links: [] };

function recordOf({ record }: NewPage): PageRecord {
  return record === null ? EMPTY_RECORD : (JSON.parse(unpackRecord(record).toString('utf8')) as PageRecord);
}

/** Headers that may hold a log-in are left out, as answers of the API hide them. */
export function requestOf({ options }: ArchivedJob): Pick<Exchange, 'method' | 'requestHeaders'> {
  const { method, headers } = hideSecrets(options.page);
  const shown = Object.entries(headers).filter(([, value]) => value !== HIDDEN_VALUE);
  return { method, requestHeaders: shown.map(([name, value]) => [name.toLowerCase(), value]) };
}

/** A request with a session, cookies or secret headers gets cookies back that are as secret. */
export function hasSecretCookies({ options }: ArchivedJob): boolean {
  const { session, cookies, headers } = options.page;
  const shown = hideSecrets(options.page).headers;
  const hasSecret = Object.keys(headers).some((name) => shown[name] === HIDDEN_VALUE);
  return session !== null || Object.keys(cookies).length > 0 || hasSecret;
}

function headerLines({ headers = {}, cookies = [] }: PageRecord, job: ArchivedJob): HeaderLine[] {
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    [value].flat().map((each): HeaderLine => [name, each]),
  );
  const shown = hasSecretCookies(job) ? [] : cookies.filter(({ value }) => value !== HIDDEN_VALUE);
  return [...lines, ...shown.map((cookie): HeaderLine => ['set-cookie', cookieLine(cookie)])];
}

function cookieLine(cookie: SetCookie): string {
  const { name, value, domain, path, expiresAt, isSecure, isHttpOnly, sameSite } = cookie;
  return [
    `${name}=${value}`,
    ...(domain === null ? [] : [`Domain=${domain}`]),
    ...(path === null ? [] : [`Path=${path}`]),
    ...(expiresAt === null ? [] : [`Expires=${new Date(expiresAt).toUTCString()}`]),
    ...(isSecure ? ['Secure'] : []),
    ...(isHttpOnly ? ['HttpOnly'] : []),
    ...(sameSite === null ? [] : [`SameSite=${sameSite}`]),
  ].join('; ');
}

interface RenderedParts {
  readonly body: (hash: ContentHash) => Promise<Uint8Array | null>;
  readonly artifact: (ref: ArtifactRef) => Promise<Uint8Array | null>;
}

async function renderedOf(
  rendered: NonNullable<PageRecord['rendered']>,
  read: RenderedParts,
): Promise<RenderedExchange> {
  const { screenshot, pdf, xhr = [], actions = [], consoleErrors = [], raw, failure } = rendered;
  const artifacts: NamedBytes[] = [];
  const add = async (name: string, ref: ArtifactRef | undefined) => {
    const bytes = ref === undefined ? null : await read.artifact(ref);
    if (ref !== undefined && bytes !== null) artifacts.push({ name, contentType: ref.contentType, bytes });
  };
  await add('view', screenshot);
  await add('pdf', pdf);
  for (const [at, { picture }] of actions.entries()) await add(`action-${at}`, picture);
  await add('failure', failure?.screenshot);
  const answers: ArchivedXhr[] = [];
  for (const { text, body, ...answer } of xhr) {
    const bytes =
      text !== undefined ? Buffer.from(text) : body === undefined ? null : await read.artifact(body);
    answers.push({ ...answer, body: bytes });
  }
  return {
    raw: raw == null ? null : await read.body(raw.contentHash),
    artifacts,
    xhr: answers,
    consoleErrors,
    actions: actions.map(({ type, ms, value }) => ({ type, ms, ...defined({ value }) })),
    failure:
      failure === undefined ? null : { code: failure.code, message: failure.message, step: failure.step },
  };
}
