// Written by scripts/write-docs.ts from the registries of the program. Do not edit.

/** What an export can hold. */
export const EXPORT_TYPES = [
  {"value":"full","label":"Full","about":"A row per page with the columns of a catalogue: title, price, availability, pictures.","isOfTwoJobs":false},
  {"value":"seo","label":"SEO","about":"A row per page with what search engines read: titles, descriptions, canonicals, robots.","isOfTwoJobs":false},
  {"value":"diff","label":"Diff","about":"A row per URL with what has changed since another job.","isOfTwoJobs":true},
  {"value":"raw","label":"Raw","about":"Every stored page, its body included.","isOfTwoJobs":false},
  {"value":"links","label":"Links","about":"A row per link: page, target, text, place.","isOfTwoJobs":false},
  {"value":"records","label":"Records","about":"A row per extracted record, a column per field.","isOfTwoJobs":false},
  {"value":"results","label":"Results","about":"Pages as the API gives them.","isOfTwoJobs":false},
] as const;


/** How an export can be written, and from what. */
export const EXPORT_FORMATS = [
  {"value":"csv","label":"CSV","takes":"rows"},
  {"value":"xlsx","label":"Excel","takes":"rows"},
  {"value":"json","label":"JSON","takes":"rows"},
  {"value":"ndjson","label":"NDJSON (a line per row)","takes":"rows"},
  {"value":"parquet","label":"Parquet","takes":"rows"},
  {"value":"warc","label":"WARC (web archive)","takes":"pages"},
  {"value":"wacz","label":"WACZ (web archive with index)","takes":"pages"},
  {"value":"markdown","label":"Markdown (ZIP for language models)","takes":"pages"},
  {"value":"chunks","label":"Chunks (pieces of texts, a line each)","takes":"pages"},
] as const;
