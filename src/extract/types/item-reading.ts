import { type DataItem, isItem, itemValue, label, labels, textValue, valuesOf } from '../structured/item.ts';
import type { TypedEvidence } from './evidence.ts';

/** An address of schema.org as input of the kind `place`: its parts, or a text. */
export function placeOfItem(item: DataItem | null, ...names: readonly string[]): unknown {
  const [value] = valuesOf(item, ...names);
  if (value === undefined) return null;
  if (!isItem(value)) return typeof value === 'string' && !/^https?:/.test(value) ? value : null;
  if (value.types.some((type) => type === 'PostalAddress') || value.properties.has('addressLocality')) {
    return {
      street: textValue(value, 'streetAddress'),
      postal: textValue(value, 'postalCode'),
      city: textValue(value, 'addressLocality'),
      region: label(value, 'addressRegion'),
      country: label(value, 'addressCountry'),
    };
  }
  return placeOfItem(value, 'address') ?? textValue(value, 'name');
}

/** Rating value and count, under the field names that all types share. */
export function ratingOf(item: DataItem | null): {
  readonly rating: string | null;
  readonly bestRating: string | null;
  readonly reviewCount: string | null;
} {
  const rating = itemValue(item, 'aggregateRating');
  return {
    rating: textValue(rating, 'ratingValue'),
    bestRating: textValue(rating, 'bestRating'),
    reviewCount: textValue(rating, 'reviewCount', 'ratingCount'),
  };
}

/** Keywords come as a list or as one text with commas. */
export function keywordsOf(item: DataItem | null, ...names: readonly string[]): string[] {
  return labels(item, ...names)
    .flatMap((text) => text.split(/\s*[,;]\s*/))
    .filter((word) => word !== '');
}

/** The item a page is about: the one with its URL or heading, else the first. */
export function aboutPage(
  items: readonly DataItem[],
  addresses: readonly string[],
  heading: string | null,
): DataItem | null {
  const plain = (url: string): string =>
    url.replace(/^https?:\/\/(?:www\.)?/, '').replace(/[?#].*$|\/$/g, '');
  const own = new Set(addresses.map(plain));
  const byAddress = items.find((item) =>
    [item.id, textValue(item, 'url'), label(item, 'mainEntityOfPage')].some(
      (url) => url !== null && own.has(plain(url)),
    ),
  );
  const title = heading?.toLowerCase().trim();
  const byName = items.find((item) => textValue(item, 'name', 'headline')?.toLowerCase().trim() === title);
  return byName ?? byAddress ?? items[0] ?? null;
}

/** The item of a type that the page is about, once per syntax. */
export function aboutItems(evidence: TypedEvidence, isWanted: (type: string) => boolean): DataItem[] {
  return choosePerSource(evidence, evidence.items(isWanted));
}

export function choosePerSource(evidence: TypedEvidence, items: readonly DataItem[]): DataItem[] {
  const { markup } = evidence;
  const heading = items.length > 1 ? markup.text(markup.heading) : null;
  return (['json-ld', 'microdata', 'rdfa'] as const).flatMap((source) => {
    const own = items.filter((item) => item.source === source);
    const item = aboutPage(own, [evidence.page.url, evidence.address.url], heading);
    return item === null ? [] : [item];
  });
}
