import { hash } from 'node:crypto';
import type { PageMetadata } from '../../core/model/page.ts';
import type { KnownContent } from '../../core/ports/snapshot-store.ts';
import { createCanonicalizer } from '../../crawl/frontier/canonical.ts';
import { extractPage } from '../../extract/scan/extract-page.ts';
import { decodeAs } from '../../fetch/charset.ts';
import { offerOf } from './offer.ts';

/** Query parameters that make links of one and the same page differ from visit to visit. */
const VOLATILE_NAME =
  /^(?:_|ts|timestamp|rand|random|rnd|cb|cachebuster|nocache|sid|session.*|.*(?:token|csrf|xsrf|nonce).*|signature|sig|return_?(?:to|url)|redirect.*)$/i;
/** Values that were drawn or counted: long hexadecimal or mixed characters, times in seconds or milliseconds. */
const VOLATILE_VALUE = /^(?:\d{10,}|[0-9a-f]{16,}|(?=\S*\d)(?=\S*[a-z])[\w+/=.-]{20,})$/i;

const canonical = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: false });

/** Where a link leads, without what changes from visit to visit. */
function targetOf(raw: string): string {
  const url = canonical(raw)?.url ?? raw;
  const at = url.indexOf('?');
  if (at === -1) return url;
  const kept = [...new URLSearchParams(url.slice(at + 1))].filter(
    ([name, value]) => !VOLATILE_NAME.test(name) && !VOLATILE_VALUE.test(value),
  );
  return kept.length === 0 ? url.slice(0, at) : `${url.slice(0, at)}?${new URLSearchParams(kept).toString()}`;
}

/** Pictures are asked for with sizes and versions in their query. */
const withoutQuery = (url: string) => url.split(/[?#]/, 1)[0] ?? url;

function factsOf(metadata: PageMetadata | null, links: readonly { url: string }[]): unknown {
  return [
    links.map(({ url }) => targetOf(url)),
    metadata?.images.map(({ url, alt }) => [withoutQuery(url), alt]) ?? [],
    metadata?.description ?? null,
    Object.values(offerOf(metadata)),
  ];
}

/**
 * The hash of what belongs to the content of a web page and does not stand in its text: where links lead, pictures, the
 * description and the offer that it states for machines. It is only asked for when two bodies have the same text, to
 * tell a change from a nonce. Null for bodies that are no web page.
 */
export function hiddenFactsOf(
  body: Uint8Array,
  { charset, contentType, finalUrl }: Pick<KnownContent, 'charset' | 'contentType' | 'finalUrl'>,
): string | null {
  const page = extractPage({
    text: decodeAs(body, charset),
    charset,
    url: finalUrl,
    contentType,
    linkHeader: null,
    xRobotsTag: null,
    formats: ['metadata', 'links'],
  });
  if (page.kind !== 'html') return null;
  return hash('sha256', JSON.stringify(factsOf(page.metadata, page.links)), 'hex').slice(0, 32);
}
