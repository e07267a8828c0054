import { z } from 'zod';
import { pluginPart } from '../../../core/config/plugin-part.ts';
import { compileExtractionRules } from '../../../extract/rules/compile-rules.ts';
import { addRegexExcess, MAX_REGEX_EXCESS, type RegexExcess } from '../../../extract/rules/regex.ts';
import type { TypeName } from '../../../extract/types/extract-typed.ts';

const MOST_CHARS = 200_000;

/** Names only, so that validating a request does not load the extractors. */
const TYPES: Readonly<Record<'auto' | TypeName, true>> = {
  auto: true,
  product: true,
  job_posting: true,
  recipe: true,
  event: true,
  forum_thread: true,
  linkedin_profile: true,
  article: true,
  company_website: true,
  organization: true,
  breadcrumbs: true,
};

export const EXTRACT_TYPES = Object.keys(TYPES) as readonly ('auto' | TypeName)[];

/** Rules are compiled here, so that bad ones are refused before anything is fetched, with the place of each mistake. */
const extractSchema = z
  .strictObject({
    type: z
      .union([z.enum(EXTRACT_TYPES), pluginPart])
      .nullable()
      .default(null)
      .describe(
        'A type of thing to read the page as; `auto` decides by evidence. A type of a plug-in has its name in front: `wine:bottle`.',
      ),
    rules: z
      .record(z.string(), z.unknown())
      .nullable()
      .default(null)
      .describe('Fields by CSS, XPath, regular expression or JSONPath; see docs/rules.md.')
      .meta({ examples: [{ title: 'h1', price: { css: '.price', type: 'price' } }] }),
    schema: z
      .record(z.string(), z.unknown())
      .nullable()
      .default(null)
      .describe('JSON Schema that the result of the rules is checked against.'),
    llm: z
      .union([
        z.boolean(),
        z.strictObject({
          derived: z
            .union([z.literal('all'), z.array(z.string().min(1).max(200)).max(100)])
            .describe('Fields that are judgements: their values need not stand on the page.'),
        }),
      ])
      .default(false)
      .describe('Ask the language model of the settings for required fields that the rules left empty.'),
  })
  .superRefine(({ type, rules, schema, llm }, context) => {
    if (llm !== false && rules === null) {
      context.addIssue({ code: 'custom', path: ['llm'], message: 'Needs `rules` with required fields.' });
    }
    if (type === null && rules === null) {
      context.addIssue({ code: 'custom', message: 'Needs `type` or `rules`.' });
      return;
    }
    if (schema !== null && rules === null) {
      context.addIssue({ code: 'custom', path: ['schema'], message: 'A schema needs `rules`.' });
      return;
    }
    if (JSON.stringify([rules, schema]).length > MOST_CHARS) {
      context.addIssue({ code: 'custom', path: ['rules'], message: `Longer than ${MOST_CHARS} characters.` });
      return;
    }
    if (rules === null) return;
    const excess = excessOf([rules, schema]);
    if (
      excess.instructions > MAX_REGEX_EXCESS.instructions ||
      excess.unicodeClasses > MAX_REGEX_EXCESS.unicodeClasses
    ) {
      const message =
        `The regular expressions are too expensive: repetitions add ${excess.instructions} instructions (at most ` +
        `${MAX_REGEX_EXCESS.instructions}), and there are ${excess.unicodeClasses} Unicode classes (at most ` +
        `${MAX_REGEX_EXCESS.unicodeClasses}). Use smaller repetitions.`;
      context.addIssue({ code: 'custom', path: ['rules'], message });
      return;
    }
    const { problems } = compileExtractionRules(rules, schema === null ? {} : { schema });
    for (const { path, column, message } of problems ?? []) {
      const where = column === undefined ? message : `column ${column}: ${message}`;
      context.addIssue({ code: 'custom', path: path.split('.'), message: where });
    }
  })
  .meta({ id: 'ExtractOptions' });

/** Over all texts: which of them are patterns is only known when they are compiled, and this comes before. */
function excessOf(value: unknown): RegexExcess {
  const total = { instructions: 0, unicodeClasses: 0 };
  const waiting = [value];
  while (waiting.length > 0) {
    const next = waiting.pop();
    if (typeof next === 'string') addRegexExcess(next, total);
    else if (typeof next === 'object' && next !== null)
      for (const each of Object.values(next)) waiting.push(each);
  }
  return total;
}

export const extractField = extractSchema
  .nullable()
  .default(null)
  .describe(
    'What to read out of the page: `data.extracted`, with source and confidence in `data.extractedBy`.',
  );
