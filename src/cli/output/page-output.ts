import type { PageResult } from '../../capabilities/jobs/page-result.ts';
import type { Format } from '../../core/model/job.ts';

/** Formats that are one text: asked for alone, they are printed as they are. */
const TEXTS = ['html', 'rawHtml', 'text', 'markdown'] as const;

export interface PrintOptions {
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
