import { cursorOf } from './cursor.ts';
import { siteText } from './site-content.ts';
import { portionOf } from './token-budget.ts';
import { type Part, text } from './tool.ts';

export const PAGE_FORMATS = ['markdown', 'text', 'html', 'links', 'metadata'] as const;
/** `extracted`: the data that a call of the tool extract has found. */
export const STORED_FORMATS = [...PAGE_FORMATS, 'extracted'] as const;
export type PageFormat = (typeof STORED_FORMATS)[number];

/** A page as the API answers it. */
export interface PageAnswer {
  readonly id?: string;
  readonly url: string;
  readonly finalUrl: string;
  readonly statusCode: number | null;
  readonly title: string | null;
  readonly fetchedAt: string;
  readonly markdown?: string | null;
  readonly text?: string | null;
  readonly html?: string | null;
  readonly links?: readonly { readonly url: string; readonly text: string }[];
  readonly metadata?: unknown;
  readonly extracted?: unknown;
  readonly extractedType?: string | null;
  readonly extractProblems?: readonly unknown[];
  readonly error?: { readonly code: string; readonly message: string };
}

/** The whole content of a page in one format. */
export function contentOf(page: PageAnswer, format: PageFormat): string {
  if (format === 'links')
    return (page.links ?? []).map(({ url, text: label }) => `${label} ${url}`.trim()).join('\n');
  if (format === 'metadata') return JSON.stringify(page.metadata ?? null, null, 1);
  if (format === 'extracted') {
    const { extracted = null, extractedType = null, extractProblems = [] } = page;
    return JSON.stringify({ type: extractedType, data: extracted, problems: extractProblems });
  }
  return page[format] ?? '';
}

/** A page within the tokens, with where it goes on. */
export function pageParts(
  page: PageAnswer,
  {
    format,
    jobId,
    start,
    maxTokens,
  }: { format: PageFormat; jobId: string; start: number; maxTokens: number },
): readonly Part[] {
  const { text: content, next } = portionOf(contentOf(page, format), start, maxTokens);
  const head = [
    `URL: ${page.finalUrl}`,
    `Status: ${page.statusCode ?? '(none)'}, fetched ${page.fetchedAt}, job ${jobId}`,
    ...(page.error === undefined ? [] : [`Problem: ${page.error.code}: ${page.error.message}`]),
    ...(next === null
      ? []
      : [`More: call again with cursor ${cursorOf({ job: jobId, url: page.url, format, start: next })}`]),
  ];
  const title = `Title: ${page.title ?? '(none)'}`;
  return [text(`${head.join('\n')}\n${siteText(`${title}\n\n${content}`)}`)];
}
