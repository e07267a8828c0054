import type { OutcomeKind } from '../../core/model/attempt.ts';
import type { Page } from '../../core/model/page.ts';
import { NO_OFFER, offerOfPage } from '../../extract/types/product/offer-of-page.ts';
import { readRecord } from '../jobs/page-result.ts';
import { isRealPage } from '../snapshots/page-identity.ts';
import type { PageVersion } from './page-version.ts';

/** A stored page with its record, read once. */
export interface ReadPage {
  readonly page: Page;
  readonly outcome: OutcomeKind | undefined;
  readonly version: PageVersion;
}

export function readPage(page: Page): ReadPage {
  const { metadata, extracted, rendered, outcome } = readRecord(page.record);
  const has = (part: 'bodies' | 'artifacts'): boolean => page.expired?.includes(part) !== true;
  const offer =
    page.errorCode === null
      ? offerOfPage({ url: page.finalUrl, fetchedAt: page.fetchedAt, metadata, extracted: extracted ?? null })
      : NO_OFFER;
  const picture = rendered?.screenshot;
  return {
    page,
    outcome,
    version: {
      url: page.finalUrl,
      contentType: page.contentType,
      charset: page.charset,
      contentHash: has('bodies') ? page.contentHash : null,
      textHash: page.textHash,
      fields: { ...extracted, ...offer, title: page.title ?? extracted?.title ?? null },
      screenshot: picture?.contentType === 'image/png' && has('artifacts') ? picture.contentHash : null,
    },
  };
}

/** Only pages that show what is at their URL are compared, by the rule of snapshots. */
export const isComparable = ({ page, outcome }: ReadPage): boolean =>
  isRealPage({ ...page, outcome: outcome ?? null });
