import type { JobId } from '../../core/model/ids.ts';
import type { Page, PageRecord } from '../../core/model/page.ts';
import { unpackRecord } from '../../core/model/page-record.ts';
import type { LakePage, LakeTable } from '../../core/ports/lake-store.ts';
import { hostOf } from './partition.ts';

export type LakeValue = string | number | bigint | boolean | Date | null;
/** By the names of the columns; a column that is missing is null. */
export type LakeRow = Readonly<Record<string, LakeValue>>;
export type PageRows = Readonly<Record<LakeTable, readonly LakeRow[]>>;

/** The rows of one page. A record that cannot be read, or that has expired, gives no links and no records. */
export function rowsOfPage(jobId: JobId, { seq, page }: LakePage): PageRows {
  const record = recordOf(page);
  const host = hostOf(page.url) ?? '';
  const key = {
    job_id: jobId,
    task_id: BigInt(page.taskId),
    page_seq: BigInt(seq),
    url: page.url,
    host,
    fetched_at: new Date(page.fetchedAt),
  };
  const links = (record?.links ?? []).map((link, position): LakeRow => {
    const linkHost = hostOf(link.url);
    return {
      ...key,
      position,
      link_url: link.url,
      link_host: linkHost,
      text: link.text,
      rel: link.rel,
      kind: link.from,
      is_internal: linkHost === host,
    };
  });
  return {
    pages: [{ ...key, ...pageFields(page, record), link_count: links.length }],
    links,
    records: record === null || !hasContents(record) ? [] : [{ ...key, ...recordFields(record) }],
  };
}

function recordOf({ record }: Page): PageRecord | null {
  if (record === null) return null;
  try {
    return JSON.parse(unpackRecord(record).toString('utf8')) as PageRecord;
  } catch {
    return null;
  }
}

function pageFields(page: Page, record: PageRecord | null): LakeRow {
  const metadata = record?.metadata ?? null;
  return {
    final_url: page.finalUrl,
    status_code: page.statusCode,
    content_type: page.contentType,
    charset: page.charset,
    depth: page.depth,
    bytes: BigInt(page.bytes),
    content_hash: page.contentHash,
    text_hash: page.textHash,
    title: page.title,
    description: metadata?.description ?? null,
    language: metadata?.language ?? null,
    canonical_url: metadata?.canonical ?? null,
    robots: metadata?.robots ?? null,
    h1: metadata?.headings.find(({ level }) => level === 1)?.text ?? null,
    word_count: record?.content?.wordCount ?? null,
    outcome: record?.outcome ?? null,
    is_rendered: record?.rendered !== undefined,
    etag: page.etag,
    last_modified: page.lastModified,
    duplicate_of: page.duplicateOf,
    error_code: page.errorCode,
    error_message: page.errorMessage,
  };
}

const hasContents = ({ extracted, structured, content, text, markdown }: PageRecord): boolean =>
  [extracted, structured, content, text, markdown].some((part) => part !== undefined && part !== null);

function recordFields(record: PageRecord): LakeRow {
  const { content } = record;
  return {
    type: record.extractedType ?? null,
    probability: record.extractedProbability ?? null,
    data: jsonOf(record.extracted),
    structured: jsonOf(record.structured),
    title: content?.title ?? record.metadata?.title ?? null,
    author: content?.author ?? null,
    published_at: content?.publishedAt ?? null,
    modified_at: content?.modifiedAt ?? null,
    page_type: content?.pageType ?? null,
    text: record.text ?? content?.text ?? null,
    markdown: record.markdown ?? null,
  };
}

const jsonOf = (value: unknown): string | null =>
  value === undefined || value === null ? null : JSON.stringify(value);
