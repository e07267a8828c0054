import { hash } from 'node:crypto';
import type { PageMetadata, StructuredItem } from '../../core/model/page.ts';
import { type KnownContent, NO_OFFER, type OfferFacts } from '../../core/ports/snapshot-store.ts';
import { createCanonicalizer } from '../../crawl/frontier/canonical.ts';
import { decodeAs } from '../../extract/charset/charset.ts';
import { extractPage } from '../../extract/scan/extract-page.ts';
import { parseAvailability } from '../../extract/values/availability.ts';
import { parseNumber } from '../../extract/values/number.ts';

/** Query parameters that make links of one and the same page differ from visit to visit. */
const VOLATILE_NAME =
  /^(?:_|ts|timestamp|rand|random|rnd|cb|cachebuster|nocache|sid|session.*|.*(?:token|csrf|xsrf|nonce).*|signature|sig|return_?(?:to|url)|redirect.*)$/i;
/** Values that were drawn or counted: long hexadecimal or mixed characters, times in seconds or milliseconds. */
const VOLATILE_VALUE = /^(?:\d{10,}|[0-9a-f]{16,}|(?=\S*\d)(?=\S*[a-z])[\w+/=.-]{20,})$/i;

const canonical = createCanonicalizer({ ignoreQueryParameters: [], keepFragment: false });

/** How deep offers are looked for in data that strangers wrote, and in how many values. */
const MOST_DEPTH = 12;
const MOST_VALUES = 5_000;

const MACHINE_NUMBER = /^\s*\d+(?:\.\d+)?\s*$/;
const CURRENCY = /^[A-Z]{3}$/;

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

type Fields = Readonly<Record<string, unknown>>;

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : value);

function numberOf(value: unknown): number | null {
  const one = first(value);
  if (typeof one === 'number') return Number.isFinite(one) ? one : null;
  if (typeof one !== 'string') return null;
  // Numbers for machines have a point, whatever the language of the page.
  return MACHINE_NUMBER.test(one) ? Number(one) : (parseNumber(one)?.value ?? null);
}

function currencyOf(value: unknown): string | null {
  const code = String(first(value) ?? '').toUpperCase();
  return CURRENCY.test(code) ? code : null;
}

function availabilityOf(value: unknown): string | null {
  const one = first(value);
  const text = isFields(one) ? (one['@id'] ?? one.name) : one;
  return typeof text === 'string' ? parseAvailability(text) : null;
}

/** The offer that an object states itself; null when it states none. */
function statedIn(fields: Fields): OfferFacts | null {
  const specification = first(fields.priceSpecification);
  const priced = isFields(specification) ? { ...specification, ...fields } : fields;
  const price = numberOf(priced.price ?? priced.lowPrice);
  const availability = availabilityOf(priced.availability);
  if (price === null && availability === null) return null;
  return { price, currency: currencyOf(priced.priceCurrency), availability };
}

/** The first one in the order of the document, whatever it stands in. */
function foundIn(value: unknown, budget = { values: MOST_VALUES }, depth = 0): OfferFacts | null {
  if (depth > MOST_DEPTH || budget.values-- <= 0) return null;
  if (Array.isArray(value)) {
    for (const each of value) {
      const found = foundIn(each, budget, depth + 1);
      if (found !== null) return found;
    }
    return null;
  }
  if (!isFields(value)) return null;
  return statedIn(value) ?? foundIn(Object.values(value), budget, depth + 1);
}

/** Lists of one value each, as microdata and RDFa have them, become values. */
const fieldsOf = ({ properties }: StructuredItem): Fields =>
  Object.fromEntries(
    Object.entries(properties).map(([name, values]) => [
      name,
      values.map((each) => (typeof each === 'string' ? each : fieldsOf(each))),
    ]),
  );

/**
 * The first offer that a page states for machines, be it of the page or of a thing on it: JSON-LD, microdata, RDFa, then
 * Open Graph. It tells contents apart; what a page is said to cost comes from `offerOfPage`.
 */
function offerOf(metadata: PageMetadata | null): OfferFacts {
  if (metadata === null) return NO_OFFER;
  const { jsonLd, microdata, rdfa, openGraph } = metadata;
  const stated = foundIn(jsonLd) ?? foundIn([...microdata, ...rdfa].map(fieldsOf));
  if (stated !== null) return stated;
  const named = (name: string) => openGraph[`product:${name}`] ?? openGraph[name];
  return {
    price: numberOf(named('price:amount')),
    currency: currencyOf(named('price:currency')),
    availability: availabilityOf(named('availability')),
  };
}
