import { createHash } from 'node:crypto';
import { decodeAs, decodeText } from '../../../extract/charset/charset.ts';
import { contentKindOf } from '../../../extract/html/media-type.ts';
import type { ExportPage, PageSource, PageWriterOptions, PageWriters } from '../table.ts';
import { writeZip, type ZipEntry } from './zip.ts';

const OPTIONS = { formats: ['markdown'], type: null, rules: null, parts: null, hasLlm: false } as const;

/**
 * The main content of a page as Markdown: as the job has kept it, else read from the stored body. Null for pages that
 * failed, have no text, or whose body was deleted.
 */
export async function markdownOf(from: ExportPage): Promise<string | null> {
  const { page, record } = from;
  if (page.errorCode !== null) return null;
  const kept = textOf(record.markdown) ?? textOf(record.text);
  if (kept !== null) return kept;
  const body = await from.body();
  if (body === null) return null;
  const html = decodeAs(body, page.charset);
  try {
    // Large, and not needed where the job has kept what is asked for.
    const { extractFull } = await import('../../../extract/full/extract-full.ts');
    const { record: read } = await extractFull(
      {
        bytes: body,
        html,
        isHtml: html !== '' && contentKindOf(page.contentType, html) === 'html',
        url: page.finalUrl,
        contentType: page.contentType,
        contentLanguage: null,
        linkHeader: null,
        fetchedAt: page.fetchedAt,
        decode: decodeText,
      },
      OPTIONS,
    );
    return textOf(read.markdown);
  } catch {
    // A body that cannot be read has no text to give; the others go on.
    return null;
  }
}

const textOf = (text: string | null | undefined): string | null =>
  text === null || text === undefined || text.trim() === '' ? null : text.toWellFormed();

/** One line, for titles and descriptions of strangers in lists. */
const oneLine = (text: string): string => text.toWellFormed().replace(/\s+/g, ' ').trim();

const MOST_NAME_CHARS = 80;
const CHUNK_CHARS = 65_536;

/**
 * A ZIP for language models: `llms.txt` (an index, as llmstxt.org describes it), `llms-full.txt` (all texts one after the
 * other) and a Markdown file with front matter for each page. Pages are read once for each of the three.
 */
export function writeMarkdownZip(pages: PageSource, options: PageWriterOptions): AsyncIterable<Uint8Array> {
  return writeZip(entries(pages, options));
}

async function* entries(pages: PageSource, { job, onRows }: PageWriterOptions): AsyncGenerator<ZipEntry> {
  const site = oneLine(job.seeds[0] ?? job.id);
  yield { name: 'llms.txt', data: inChunks(indexTexts(pages, site)) };
  yield { name: 'llms-full.txt', data: inChunks(fullTexts(pages)) };
  for await (const page of pages()) {
    const markdown = await markdownOf(page);
    if (markdown !== null) {
      yield { name: fileName(page.page.url), data: Buffer.from(`${frontMatter(page)}\n${markdown}\n`) };
    }
    onRows(1);
  }
}

async function* indexTexts(pages: PageSource, site: string): AsyncGenerator<string> {
  yield `# ${site}\n\n> Pages of ${site} as Markdown, one file each. llms-full.txt has all of them in one.\n\n## Pages\n\n`;
  for await (const page of pages()) {
    if ((await markdownOf(page)) === null) continue;
    const description = oneLine(page.record.metadata?.description ?? '');
    yield `- [${linkText(titleOf(page))}](${fileName(page.page.url)})${description === '' ? '' : `: ${description}`}\n`;
  }
}

async function* fullTexts(pages: PageSource): AsyncGenerator<string> {
  for await (const page of pages()) {
    const markdown = await markdownOf(page);
    if (markdown !== null) yield `# ${titleOf(page)}\n\nSource: ${page.page.url}\n\n${markdown}\n\n---\n\n`;
  }
}

async function* inChunks(texts: AsyncIterable<string>): AsyncGenerator<Uint8Array> {
  let text = '';
  for await (const each of texts) {
    text += each;
    if (text.length < CHUNK_CHARS) continue;
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

const titleOf = ({ page }: ExportPage): string => oneLine(page.title ?? '') || page.url;

const linkText = (text: string): string => text.replace(/[[\]\\]/g, '\\$&');

/** YAML whose values are JSON, which YAML contains. */
function frontMatter({ page, record }: ExportPage): string {
  const values = {
    title: page.title === null ? null : oneLine(page.title),
    url: page.url,
    final_url: page.finalUrl,
    description: record.metadata?.description ?? null,
    language: record.metadata?.language ?? null,
    fetched_at: new Date(page.fetchedAt).toISOString(),
    content_hash: page.contentHash,
  };
  const lines = Object.entries(values).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return ['---', ...lines, '---', ''].join('\n');
}

/**
 * A name that no system takes for anything but a file in the folder of its host: letters, digits and hyphens of the URL,
 * and a part of its hash, which makes it unique.
 */
export function fileName(url: string): string {
  const { host = 'page', pathname = '' } = URL.parse(url) ?? {};
  const safe = (text: string) =>
    text
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
      .slice(0, MOST_NAME_CHARS);
  const hash = createHash('sha256').update(url).digest('hex').slice(0, 12);
  const name = safe(pathname.replace(/\.(?:html?|php|aspx?)$/i, '')) || 'index';
  return `pages/${safe(host) || 'host'}/${name}-${hash}.md`;
}

export const writers = { markdown: writeMarkdownZip } satisfies PageWriters;
