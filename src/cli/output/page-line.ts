import type { Artifact } from '../../capabilities/jobs/results/artifacts.ts';
import { failureMessage } from '../../capabilities/jobs/results/outcome-words.ts';
import { type PageResult, pageErrorOf } from '../../capabilities/jobs/results/page-result.ts';
import type { Page, PageRecord, RenderedRecord } from '../../core/model/page.ts';
import { isReasonOf } from '../../core/model/reasons.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import { defined } from '../../lib/defined.ts';
import { type WrittenArtifact, type WrittenArtifacts, writeBytes } from './output-files.ts';

const NEWLINE = Buffer.from('\n');
const EMPTY_RECORD = Buffer.from('"metadata":null,"links":[]}');

/**
 * The line of a stored page: its row, then its record as it was stored. The record is JSON already, so it is put
 * behind the row's fields unread; parsing and writing it again would cost more than all the rest.
 */
export function pageLine(
  page: Page,
  rawHtml: string | null | undefined,
  record: Buffer | null,
  sourceUrl = page.url,
): Buffer[] {
  const row = rowOf(page, rawHtml, undefined, sourceUrl);
  return [Buffer.from(`${JSON.stringify(row).slice(0, -1)},`), record?.subarray(1) ?? EMPTY_RECORD, NEWLINE];
}

/** The line of a page that was rendered in a browser; it names the files of the page's artifacts. */
export function shownPageLine(
  page: Page,
  rawHtml: string | null | undefined,
  { rendered = {}, ...record }: PageRecord,
  files: WrittenArtifacts,
  sourceUrl = page.url,
): Buffer[] {
  const { xhr, actions, consoleErrors = [] } = rendered;
  const row = {
    ...rowOf(page, rawHtml, rendered, sourceUrl),
    screenshot: files.get('screenshot'),
    pdf: files.get('pdf'),
    xhr: xhr?.map(({ body, ...each }, at) => ({ ...each, body: files.get(`xhr-${at}`) })),
    actions: actions?.map(({ picture, ...each }, at) => ({ ...each, screenshot: files.get(`action-${at}`) })),
    consoleErrors,
    ...failureFiles(page, rendered, files),
    ...record,
  };
  return [Buffer.from(JSON.stringify(row)), NEWLINE];
}

/** The error with the files that show the page when it came. */
function failureFiles(page: Page, rendered: RenderedRecord, files: WrittenArtifacts) {
  const { error } = pageErrorOf(page, rendered);
  const [screenshot, html] = [files.get('failure-screenshot'), files.get('failure-html')];
  if (error === undefined || (screenshot === undefined && html === undefined)) return {};
  return { error: { ...error, details: { ...error.details, screenshot, html } } };
}

function rowOf(
  page: Page,
  rawHtml: string | null | undefined,
  rendered: RenderedRecord | undefined,
  sourceUrl: string,
) {
  return {
    url: page.url,
    sourceUrl,
    finalUrl: page.finalUrl,
    statusCode: page.statusCode,
    depth: page.depth,
    fetchedAt: new Date(page.fetchedAt).toISOString(),
    contentType: page.contentType,
    charset: page.charset,
    contentHash: page.contentHash,
    textHash: page.textHash,
    bytes: page.bytes,
    title: page.title,
    duplicateOf: page.duplicateOf,
    ...defined({ rawHtml }),
    ...pageErrorOf(page, rendered),
  };
}

/** A URL that failed before anything was asked of its host has no page; its line comes from the ledger. */
export const failureLine = (entry: LedgerEntry, sourceUrl = entry.url): string =>
  `${JSON.stringify(failedPageOf(entry, sourceUrl))}\n`;

/** The line of a failed URL as an object. */
export function failedPageOf(entry: LedgerEntry, sourceUrl = entry.url) {
  const code = entry.errorCode ?? 'INTERNAL';
  const message = failureMessage(code, entry);
  return {
    url: entry.url,
    sourceUrl,
    finalUrl: entry.url,
    statusCode: null,
    depth: entry.depth,
    fetchedAt: entry.finishedAt,
    contentType: null,
    charset: null,
    contentHash: null,
    textHash: null,
    bytes: 0,
    title: null,
    duplicateOf: null,
    error: { code, message, rule: entry.rule },
    metadata: null,
    links: [],
  };
}

/** Pages of failed tasks are stored when an attempt was made; the rule says that. */
export function hasPage(entry: LedgerEntry): boolean {
  return entry.kind === 'page' && isReasonOf(entry.rule, 'attempt');
}

/** The line of a page that a server has fetched; its pictures, documents and answers are written to files. */
export async function remotePageLine(page: PageResult, dir: string): Promise<string> {
  const kept = async (name: string, artifact: Artifact | null | undefined) => {
    if (artifact == null) return artifact;
    const { contentType, bytes, base64 } = artifact;
    if (base64 == null) return { file: null, contentType, bytes } satisfies WrittenArtifact;
    return writeBytes({ name, contentType, base64 }, page.url, dir);
  };
  const { screenshot, pdf, xhr, actions, ...rest } = page;
  const line = {
    ...rest,
    screenshot: await kept('screenshot', screenshot),
    pdf: await kept('pdf', pdf),
    xhr:
      xhr &&
      (await Promise.all(
        xhr.map(async (each, at) => ({ ...each, body: await kept(`xhr-${at}`, each.body) })),
      )),
    actions:
      actions &&
      (await Promise.all(
        actions.map(async (each, at) => ({
          ...each,
          screenshot: await kept(`action-${at}`, each.screenshot),
        })),
      )),
  };
  return `${JSON.stringify(line)}\n`;
}
