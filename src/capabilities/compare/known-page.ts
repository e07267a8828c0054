import type { PageVersion } from './page-version.ts';
import type { ReadPage } from './read-page.ts';
import type { ChangeSide } from './site-change.ts';

/** One version of a page with what a list of changes shows of it. */
export interface KnownPage {
  readonly url: string;
  readonly side: ChangeSide;
  readonly version: PageVersion;
}

/** A page of a job. */
export function knownPage({ page, version }: ReadPage): KnownPage {
  const { fields } = version;
  const text = (name: string): string | null => {
    const value = fields[name];
    return typeof value === 'string' ? value : null;
  };
  return {
    url: page.url,
    side: {
      taskId: page.taskId,
      finalUrl: page.finalUrl,
      statusCode: page.statusCode,
      fetchedAt: page.fetchedAt,
      title: text('title'),
      price: typeof fields.price === 'number' ? fields.price : null,
      currency: text('currency'),
      availability: text('availability'),
    },
    version,
  };
}
