import type { PageLink } from '../../core/model/page.ts';
import { readXmlDocument } from '../../extract/documents/read-xml.ts';
import type { ReadRequest } from './page-reading.ts';
import type { DecodedBody } from './read-page.ts';

/** The title of an XML document, and of a feed its links as well. */
export interface FeedFacts {
  readonly title: string | null;
  readonly links: readonly PageLink[];
}

export function readFeed({ response, fetchedAt }: ReadRequest, { text }: DecodedBody): FeedFacts {
  const document = readXmlDocument(text, response.finalUrl, { fetchedAt }, true);
  const { title = null, links = [] } = document ?? {};
  // In other XML an address may be that of a schema or a style sheet, which no reader would follow.
  return { title, links: document?.kind === 'feed' ? links : [] };
}
