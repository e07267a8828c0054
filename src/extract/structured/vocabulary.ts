const SCHEMA = /^https?:\/\/(?:www\.)?schema\.org\/(?:#)?/i;
const OLD_SCHEMA = /^https?:\/\/(?:www\.)?data-vocabulary\.org\/(?:#)?/i;

/** Prefixes of the RDFa initial context that web pages use. */
export const KNOWN_PREFIXES: ReadonlyMap<string, string> = new Map([
  ['schema', 'https://schema.org/'],
  ['og', 'http://ogp.me/ns#'],
  ['dc', 'http://purl.org/dc/terms/'],
  ['dc11', 'http://purl.org/dc/elements/1.1/'],
  ['dcterms', 'http://purl.org/dc/terms/'],
  ['foaf', 'http://xmlns.com/foaf/0.1/'],
  ['gr', 'http://purl.org/goodrelations/v1#'],
  ['v', 'http://rdf.data-vocabulary.org/#'],
  ['vcard', 'http://www.w3.org/2006/vcard/ns#'],
  ['sioc', 'http://rdfs.org/sioc/ns#'],
  ['skos', 'http://www.w3.org/2004/02/skos/core#'],
  ['rdf', 'http://www.w3.org/1999/02/22-rdf-syntax-ns#'],
  ['rdfs', 'http://www.w3.org/2000/01/rdf-schema#'],
  ['xsd', 'http://www.w3.org/2001/XMLSchema#'],
  ['ctag', 'http://commontag.org/ns#'],
  ['cc', 'http://creativecommons.org/ns#'],
]);

/** The name of a type or property: short for schema.org, the URL for all others. */
export function nameOf(address: string): string {
  const short = address.replace(SCHEMA, '').replace(OLD_SCHEMA, '');
  return short === '' ? address : short;
}

/** Properties of schema.org whose values are URLs and may be relative. */
const URL_PROPERTIES: ReadonlySet<string> = new Set([
  'url',
  'image',
  'images',
  'logo',
  'sameAs',
  'contentUrl',
  'embedUrl',
  'thumbnailUrl',
  'thumbnail',
  'item',
  'mainEntityOfPage',
  'photo',
  'downloadUrl',
  'installUrl',
  'discussionUrl',
  'hasMap',
  'license',
  'menu',
  'isBasedOn',
  'relatedLink',
  'significantLink',
  'target',
  'urlTemplate',
]);

export function holdsUrl(property: string): boolean {
  return URL_PROPERTIES.has(property);
}
