import { decodeAs, decodeText } from '../../../extract/charset/charset.ts';
import { contentKindOf } from '../../../extract/html/media-type.ts';
import type { ExportPage } from '../table.ts';

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
export const oneLine = (text: string): string => text.toWellFormed().replace(/\s+/g, ' ').trim();
