import { TRUST } from '../../src/extract/types/draft.ts';
import { LEAST_PROBABILITY, TYPE_NAMES, TYPES } from '../../src/extract/types/extract-typed.ts';
import { SOURCES } from '../../src/extract/types/field.ts';

const INTRODUCTION = `# Types

\`extract: {type: "product"}\` reads a page as a thing of a type. \`"auto"\` chooses the type by evidence, and chooses none
where there is too little. The result is in \`data.extracted\`. **Every field of the type is in it, and null where the page does
not state it**: a missing value is never an error. Values are normalized: prices are numbers, dates ISO 8601 no more exact than
the page, addresses absolute with https and without tracking parameters, texts without tags.

\`data.extractedProbability\` (0 to 1) is how likely the page is of that type, by evidence: structured data of the type speaks
for it most, then what its embedded data, its buttons and its markup are called. \`auto\` chooses none below ${LEAST_PROBABILITY}. A type that was
asked for by name is read in any case, so on a page of another kind (a contact page read as a product) the fields hold what
comes nearest, and a probability below ${LEAST_PROBABILITY} says not to rely on them.

\`data.extractedBy\` says for each field that is not null where it came from and how sure it is. The most trusted source
wins; others that say the same make it surer. What was found and could not be read is a problem, and the next source counts.

| source | what it is | confidence |
| --- | --- | --- |
`;

const SOURCE_TEXTS: Readonly<Record<(typeof SOURCES)[number], string>> = {
  'json-ld': 'JSON-LD, mended where it is broken and there is one way to mend it',
  microdata: 'microdata, `itemref` included',
  rdfa: 'RDFa Lite',
  'embedded-state':
    "the page's own data: `__NEXT_DATA__`, `__NUXT__`, `window.__…__`, Shopify, WooCommerce, PrestaShop, Discourse; read, never run",
  'open-graph': 'Open Graph tags',
  meta: 'other tags and links of the head',
  markup: 'elements by what their authors call them',
  text: 'what stands on the page in words',
  url: 'the address of the page',
};

const KINDS = `
## Kinds

- \`place\`: \`{city, region, country, raw}\`, the country as ISO 3166, \`raw\` all of it as written.
- \`salary\`: \`{min, max, currency, per}\`, \`per\` one of \`hour day week month year\`.
- \`crumbs\`: a list of \`{name, url}\` from the root down.
- \`texts\`, \`urls\`, \`variants\`, \`posts\`, \`stations\`: lists that are never empty; without entries the field is null.
- \`attributes\`: texts by name.
- \`minutes\`, \`price\`, \`number\`, \`count\`: numbers. \`flag\`: true or false.

A new type is one file in \`src/extract/types\` and a line in \`registry.ts\`; this page and its tests follow.
`;

/** docs/types.md, written from the registry. */
export function typesPage(): string {
  const sources = SOURCES.map((source) => `| \`${source}\` | ${SOURCE_TEXTS[source]} | ${TRUST[source]} |`);
  const types = TYPE_NAMES.map((name) => {
    const rows = Object.entries(TYPES[name].fields).map(
      ([field, { kind, says }]) => `| \`${field}\` | ${kind} | ${says} |`,
    );
    return `\n## \`${name}\`\n\n${TYPES[name].says}\n\n| field | kind | what it holds |\n| --- | --- | --- |\n${rows.join('\n')}\n`;
  });
  return `${INTRODUCTION}${sources.join('\n')}\n\nThe confidence is that of a field which nothing else confirms or weakens.\n${types.join('')}${KINDS}`;
}
