import { hash } from 'node:crypto';
import { mkdir, rename, stat, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { artifactsOf, endingFor, type NamedArtifact } from '../../capabilities/jobs/artifact.ts';
import type { ContentHash } from '../../core/model/ids.ts';
import type { RenderedRecord } from '../../core/model/page.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import { cannotWrite } from './cannot-write.ts';

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
export async function writeWhole(path: string, bytes: Uint8Array): Promise<void> {
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
