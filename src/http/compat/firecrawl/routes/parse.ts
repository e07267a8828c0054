import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import {
  readOptionsOf,
  reextractRequestSchema,
} from '../../../../capabilities/jobs/request/extraction-request.ts';
import { parseRequest } from '../../../../capabilities/jobs/request/invalid-request.ts';
import type { PageResult } from '../../../../capabilities/jobs/results/page-result.ts';
import type { DocumentContent } from '../../../../extract/documents/document-content.ts';
import { urlPart } from '../../../../lib/url-part.ts';
import type { App } from '../../../server/app.ts';
import { accountOf } from '../../../server/caller.ts';
import { parseBoundedJson } from '../../../server/json-body.ts';
import { Refusal } from '../failure.ts';
import { bodyOf, type FirecrawlDeps } from '../firecrawl-deps.ts';
import {
  bodyFields,
  pageRequestOf,
  type ScrapeOptions,
  scrapeFields,
  scrapeOptionsField,
  viewOf,
} from '../request/scrape-options.ts';
import { documentOf } from '../view/document.ts';

/** What makes sense for a file: nothing is fetched, so nothing says how. */
const {
  formats,
  includeTags,
  excludeTags,
  onlyMainContent,
  onlyCleanContent,
  timeout,
  parsers,
  removeBase64Images,
  skipTlsVerification,
  redactPII,
} = scrapeFields;
const parseOptions = z.strictObject({
  ...{ formats, includeTags, excludeTags, onlyMainContent, onlyCleanContent, timeout, parsers },
  ...{ removeBase64Images, skipTlsVerification, redactPII },
  proxy: z.enum(['basic', 'auto']).default('auto'),
  ...bodyFields,
});

const NOTHING_FETCHED = scrapeOptionsField.parse({});

/** Only what is read out of the bytes. */
const READABLE: ReadonlySet<string> = new Set([
  'markdown',
  'html',
  'rawHtml',
  'links',
  'images',
  'json',
  'attributes',
]);
/** The address of a file that has none; links in it stay as they are when they are absolute. */
const NOWHERE = 'http://upload.invalid/';
const UNKNOWN_TYPE = 'application/octet-stream';

/** Formats that tell whether the file could be read. */
const TELLING = ['text', 'structured'];

/** Types by the ending of the name, for clients that do not say. */
const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html',
  htm: 'text/html',
  xhtml: 'application/xhtml+xml',
  pdf: 'application/pdf',
  json: 'application/json',
  xml: 'application/xml',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
};

/** Reads a file that the client uploads. */
export function addParseRoutes(app: App, { extraction, isV1, jobs }: FirecrawlDeps): void {
  if (isV1) return;
  app.addContentTypeParser('multipart/form-data', (request, _payload, done) => app.readBody(request, done));

  app.route({
    method: 'POST',
    url: '/parse',
    config: { access: ['scrape', 'read'] },
    schema: { hide: true },
    async handler(request) {
      const { file, options } = await partsOf(request.body, request.headers['content-type'] ?? '');
      const given = bodyOf(parseOptions, options);
      const wrong = given.formats.find(({ type }) => !READABLE.has(type));
      if (wrong !== undefined) {
        throw new Refusal(
          400,
          `The format "${wrong.type}" needs a page that is fetched.`,
          'PARSE_UNSUPPORTED_OPTIONS',
        );
      }
      const { origin, integration: _integration, zeroDataRetention: _kept, ...rest } = given;
      const scrape: ScrapeOptions = { ...NOTHING_FETCHED, ...rest };
      const asked = pageRequestOf(scrape);
      const wanted = parseRequest(reextractRequestSchema, {
        formats: [...new Set([...(asked.formats as string[]), ...TELLING])],
        ...('extract' in asked ? { extract: asked.extract } : {}),
        includeTags: asked.includeTags,
        excludeTags: asked.excludeTags,
        onlyMainContent: asked.onlyMainContent,
        maxPdfPages: asked.maxPdfPages,
      });
      const body = new Uint8Array(await file.arrayBuffer());
      const contentType = typeOf(file);
      const url = `${NOWHERE}${urlPart(file.name)}`;
      const accountId = accountOf(request);
      const reading = extraction.read({ accountId, url, body, contentType }, readOptionsOf(wanted));
      const page = await (given.timeout === undefined ? reading : inTime(reading, given.timeout));
      requireText(page);
      const view = viewOf(scrape, { origin });
      const document = documentOf(page, { jobId: jobs.newId(), view });
      const { url: _url, statusCode: _status, ...metadata } = document.metadata;
      return {
        success: true,
        data: { ...document, metadata: { ...metadata, sourceURL: file.name, contentType } },
      };
    },
  });
}

/** The answer does not wait longer; the file is read to its end all the same. */
async function inTime<T>(work: Promise<T>, limitMs: number): Promise<T> {
  const timer = new AbortController();
  const late = delay(limitMs, undefined, { signal: timer.signal }).then(() => {
    throw new Refusal(408, `The file was not read within ${limitMs} ms.`, 'SCRAPE_TIMEOUT');
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    timer.abort();
    late.catch(() => undefined);
  }
}

/** Throws for a file without anything to read: an empty document would be taken for an empty file. */
function requireText({ structured, text }: PageResult): void {
  const { kind, problems = [] } = (structured ?? {}) as Partial<DocumentContent>;
  const isEmpty = (text ?? '').trim() === '';
  const problem = problems.find(({ code }) => code !== 'pdf-no-text');
  if (kind !== 'binary' && (problem === undefined || !isEmpty)) return;
  const why =
    problem?.message ??
    'It is of a type that has no text: web pages, PDF, JSON, XML, CSV and text can be read.';
  throw new Refusal(400, `The file cannot be read. ${why}`, 'SCRAPE_UNSUPPORTED_FILE_ERROR');
}

const typeOf = ({ name, type }: File): string => {
  if (type !== '' && type !== UNKNOWN_TYPE) return type;
  return TYPES[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? UNKNOWN_TYPE;
};

async function partsOf(body: unknown, contentType: string): Promise<{ file: File; options: unknown }> {
  if (!Buffer.isBuffer(body)) throw new Refusal(400, 'Send the file as multipart/form-data.', 'BAD_REQUEST');
  requireBoundedForm(body, contentType);
  const headers = { 'content-type': contentType };
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => null);
  const file = form?.get('file');
  if (form === null || !(file instanceof File)) {
    throw new Refusal(400, 'The form has no part "file".', 'BAD_REQUEST');
  }
  return { file, options: jsonOf(form.get('options')) };
}

/** A form has a file and its options; clients may add a few parts of their own. */
const MOST_PARTS = 20;
/** The most that the headers of a part may have. */
const MOST_HEAD_BYTES = 4_096;
const BOUNDARY = /\bboundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;

/** Throws for a form of many parts, or of long headers, which its parser would work on for long without a pause. */
function requireBoundedForm(body: Buffer, contentType: string): void {
  const [, quoted, plain] = BOUNDARY.exec(contentType) ?? [];
  const delimiter = `--${quoted ?? plain ?? ''}`;
  let parts = 0;
  for (let at = body.indexOf(delimiter); at !== -1; parts += 1) {
    const end = body.indexOf('\r\n\r\n', at);
    if (parts > MOST_PARTS || (end === -1 ? body.length : end) - at > MOST_HEAD_BYTES) {
      throw new Refusal(
        400,
        `The form may have ${MOST_PARTS} parts, with ${MOST_HEAD_BYTES} bytes of headers each.`,
        'BAD_REQUEST',
      );
    }
    at = end === -1 ? -1 : body.indexOf(`\r\n${delimiter}`, end);
  }
}

const jsonOf = (text: unknown): unknown =>
  text === null || text === '' ? {} : parseBoundedJson(String(text));
