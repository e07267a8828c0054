import { hash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { mkdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, join, resolve } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import {
  type Artifact,
  artifactsOf,
  endingFor,
  type NamedArtifact,
} from '../../capabilities/jobs/results/artifacts.ts';
import type { ScrapeResult } from '../../capabilities/jobs/results/job-reader.ts';
import type { FailureDetails, PageResult } from '../../capabilities/jobs/results/page-result.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { Format } from '../../core/model/job.ts';
import type { RenderedRecord } from '../../core/model/page.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import { defined } from '../../lib/defined.ts';
import type { Shell } from '../shell/shell.ts';
import { cannotWrite, outputWritten } from './screen.ts';

/** Gathered before they are written: a write per page would be a system call per page. */
const CHUNK_CHARS = 65_536;

/**
 * Writes texts, or bytes, to a file, or to standard output when none is named. A file appears under its name when it is complete,
 * so that half of it is never taken for the whole. Throws DISK_FULL or DATA_DIR_UNUSABLE with the file's name.
 */
export async function writeOut(
  shell: Shell,
  out: string | undefined,
  texts: AsyncIterable<string | Uint8Array>,
): Promise<void> {
  if (out === undefined || out === '-') {
    try {
      await pipeline(Readable.from(inChunks(texts)), shell.stdout, { end: false });
    } catch (error) {
      // The error of the stream says why; an error of the source is reported as it is.
      await outputWritten(shell.stdout);
      throw error;
    }
    return;
  }
  const path = resolve(shell.cwd, out);
  const part = `${path}.part`;
  try {
    await pipeline(Readable.from(inChunks(texts)), createWriteStream(part));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true }).catch(() => undefined);
    throw error instanceof ScrapifieError ? error : cannotWrite(path, error);
  }
}

/** Bytes come in chunks already. */
async function* inChunks(texts: AsyncIterable<string | Uint8Array>): AsyncGenerator<string | Uint8Array> {
  let chunk = '';
  for await (const text of texts) {
    if (typeof text !== 'string') {
      yield text;
      continue;
    }
    chunk += text;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = '';
  }
  if (chunk !== '') yield chunk;
}

/** A picture, a document or an answer of a page, as a line of pages.ndjson tells of it. */
export interface WrittenArtifact {
  /** Relative to the folder of pages.ndjson; null when the bytes are gone. */
  readonly file: string | null;
  readonly contentType: string;
  readonly bytes: number;
}

export type WrittenArtifacts = ReadonlyMap<string, WrittenArtifact>;

/** Writes the artifacts of a page, each to a file of its own. Existing files stay. */
export async function writeArtifacts(
  rendered: RenderedRecord,
  url: string,
  dir: string,
  blobs: Blobs,
): Promise<WrittenArtifacts> {
  const written = new Map<string, WrittenArtifact>();
  for (const artifact of artifactsOf(rendered)) {
    const { name, contentType, bytes } = artifact;
    const fileName = fileNameOf(artifact, url);
    const isWritten = await keep(join(dir, fileName), artifact, blobs);
    written.set(name, { file: isWritten ? `${basename(dir)}/${fileName}` : null, contentType, bytes });
  }
  return written;
}

async function keep(path: string, artifact: NamedArtifact, blobs: Blobs): Promise<boolean> {
  // The name contains the hash, so a complete file of this name has the same bytes.
  const found = await stat(path).catch(() => null);
  if (found?.size === artifact.bytes) return true;
  const bytes = await blobs.get(artifact.contentHash);
  if (bytes === null) return false;
  await writeWhole(path, bytes);
  return true;
}

/** A file appears under its name when it is complete. */
async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await mkdir(join(path, '..'), { recursive: true });
    await writeFile(`${path}.part`, bytes);
    await rename(`${path}.part`, path);
  } catch (error) {
    throw cannotWrite(path, error);
  }
}

const MAX_SLUG_CHARS = 80;
const HASH_CHARS = 16;

/** Writes bytes that came with a page, under the name that the same bytes of a local crawl would get. */
export async function writeBytes(
  { name, contentType, base64 }: { name: string; contentType: string; base64: string },
  url: string,
  dir: string,
): Promise<WrittenArtifact> {
  const bytes = Buffer.from(base64, 'base64');
  const contentHash = hash('sha256', bytes, 'hex') as ContentHash;
  const fileName = fileNameOf({ name, contentHash, contentType, bytes: bytes.byteLength }, url);
  await writeWhole(join(dir, fileName), bytes);
  return { file: `${basename(dir)}/${fileName}`, contentType, bytes: bytes.byteLength };
}

/** Returns a name such as `example.com-about-us-0f3a….screenshot.png` or `example.com-about-us-0f3a….pdf`. */
function fileNameOf({ name, contentHash, contentType }: NamedArtifact, url: string): string {
  const { host = '', pathname = '' } = URL.parse(url) ?? {};
  const slug = `${host}${pathname}`.replace(/[^a-z0-9.]+/gi, '-').replace(/^[-.]+|[-.]+$/g, '');
  const ending = endingFor(contentType);
  const kind = name === ending ? name : `${name}.${ending}`;
  return `${slug.slice(0, MAX_SLUG_CHARS)}-${contentHash.slice(0, HASH_CHARS)}.${kind}`;
}

/** Where the person wants what; null: nowhere, it stays in the result. */
interface WantedFiles {
  readonly screenshot: string | null;
  readonly pdf: string | null;
}

interface FilledFiles {
  /** The result with the names of files, or the bytes themselves, in place of addresses. */
  readonly page: object;
  /** What was wanted and is not there. */
  readonly missing: readonly string[];
}

/** Writes what was asked for to files. Throws DISK_FULL or DATA_DIR_UNUSABLE with the file's name. */
export async function putIntoFiles(result: ScrapeResult, wanted: WantedFiles): Promise<FilledFiles> {
  const missing: string[] = [];
  const place = async (name: keyof WantedFiles) => {
    const artifact = result[name];
    const path = wanted[name];
    if (path !== null && !artifact?.base64) missing.push(name);
    if (artifact === undefined) return {};
    if (artifact === null) return { [name]: null };
    if (path === null || !artifact.base64) return { [name]: withoutUrl(artifact) };
    await writeWhole(path, Buffer.from(artifact.base64, 'base64'));
    const { contentType, bytes } = artifact;
    return { [name]: { file: path, contentType, bytes } };
  };
  const { xhr, actions, error } = result;
  const page = {
    ...result,
    ...(await place('screenshot')),
    ...(await place('pdf')),
    ...(xhr == null
      ? {}
      : {
          xhr: xhr.map((each) => (each.body === undefined ? each : { ...each, body: withoutUrl(each.body) })),
        }),
    ...(error?.details === undefined ? {} : { error: { ...error, details: shownDetails(error.details) } }),
    ...(actions === undefined
      ? {}
      : {
          actions: actions.map((each) =>
            each.screenshot === undefined ? each : { ...each, screenshot: withoutUrl(each.screenshot) },
          ),
        }),
  };
  return { page, missing };
}

function shownDetails({ step, screenshot, html }: FailureDetails): object {
  return {
    ...defined({ step }),
    ...(screenshot === undefined ? {} : { screenshot: withoutUrl(screenshot) }),
    ...(html === undefined ? {} : { html: withoutUrl(html) }),
  };
}

/** No server answers there. */
function withoutUrl({ url: _, ...artifact }: Artifact): Omit<Artifact, 'url'> {
  return artifact;
}

/** Formats that are one text: asked for alone, they are printed as they are. */
const TEXTS = ['html', 'rawHtml', 'text', 'markdown'] as const;

interface PrintOptions {
  readonly formats: readonly Format[];
  readonly isJson: boolean;
  /** There is more to see than the formats. */
  readonly hasMore: boolean;
}

/** A page as a command prints it: JSON, or the one text that was asked for. */
export function printed(page: object, { formats, isJson, hasMore }: PrintOptions): string {
  const [first, ...others] = formats;
  const only = TEXTS.find((format) => format === first);
  if (isJson || hasMore || only === undefined || others.length > 0) {
    return `${JSON.stringify(page, null, 2)}\n`;
  }
  const text = (page as Partial<PageResult>)[only] ?? '';
  return text === '' || text.endsWith('\n') ? text : `${text}\n`;
}
