import { z } from 'zod';
import { isScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { type DiffRules, diffRulesSchema } from '../../extract/diff/diff-rules.ts';
import { isoTime, isoTimeOrNull } from '../../lib/iso-time.ts';
import { CHANGE_TYPES, type ChangeSide, type SiteChange } from '../compare/site-change.ts';
import { invalidRequest, parseRequest } from '../jobs/request/invalid-request.ts';

const textDiffSchema = z.object({
  segments: z.array(
    z.object({
      kind: z.enum(['same', 'removed', 'added', 'skipped']),
      text: z.string(),
      chars: z.number().describe('Characters of the segment, also where its text is cut.'),
    }),
  ),
  addedChars: z.number(),
  removedChars: z.number(),
  share: z.number().describe('Changed characters of all, 0 to 1.'),
  isCoarse: z.boolean().describe('The texts differ in too many places to tell them apart.'),
  isTruncated: z.boolean().describe('Segments were cut, because together they are too long.'),
});

const fieldChangeSchema = z.object({
  field: z.string(),
  kind: z.enum(['added', 'removed', 'changed']),
  type: z.string(),
  before: z.unknown(),
  after: z.unknown(),
  difference: z.number().optional(),
  share: z.number().optional(),
  patch: z.array(z.unknown()).optional().describe('JSON Patch (RFC 6902), between lists and objects.'),
});

const comparisonSchema = z.object({
  isChanged: z.boolean(),
  texts: z.array(z.object({ name: z.string(), diff: textDiffSchema })),
  fields: z.array(fieldChangeSchema),
  picture: z.unknown().describe('How the screenshots differ; null where they do not, or are not watched.'),
});

const sideSchema = z
  .object({
    page: z.string().describe('The number of the page in its job.'),
    finalUrl: z.string(),
    statusCode: z.number().nullable(),
    fetchedAt: z.string(),
    title: z.string().nullable(),
    price: z.number().nullable(),
    currency: z.string().nullable(),
    availability: z.string().nullable(),
  })
  .meta({ id: 'SiteChangePage' })
  .nullable();

export const changeSchema = z
  .object({
    type: z.enum(CHANGE_TYPES),
    url: z.string(),
    previousUrl: z.string().nullable().describe('Of a page that has moved: where it was.'),
    previousAt: z.string().nullable(),
    currentAt: z.string(),
    changed: z
      .array(z.string())
      .describe('Names of what changed: fields, `text`, `markdown`, selectors, `screenshot`.'),
    reason: z
      .object({ crawl: z.enum(['previous', 'current']), code: z.string(), message: z.string() })
      .nullable()
      .describe('What proves that a page came or went, or why nothing is known about it.'),
    previous: sideSchema,
    current: sideSchema,
    comparison: comparisonSchema.nullable(),
  })
  .meta({ id: 'SiteChange' });

export type ChangeView = z.input<typeof changeSchema>;

const sideView = (side: ChangeSide | null): ChangeView['previous'] => {
  if (side === null) return null;
  const { taskId, fetchedAt, ...others } = side;
  return { page: String(taskId), fetchedAt: isoTime(fetchedAt), ...others };
};

export function changeView(change: SiteChange): ChangeView {
  const { type, url, previousUrl, previousAt, currentAt, changed, reason, comparison } = change;
  return {
    type,
    url,
    previousUrl,
    previousAt: isoTimeOrNull(previousAt),
    currentAt: isoTime(currentAt),
    changed: [...changed],
    reason,
    previous: sideView(change.previous),
    current: sideView(change.current),
    comparison: comparison as ChangeView['comparison'],
  };
}

export const rulesParameter = z
  .string()
  .max(16_000)
  .optional()
  .describe(
    'What counts as a change, as JSON: `{"watch": …, "ignore": …, "threshold": …}`; see docs/diff.md.',
  )
  .meta({ examples: ['{"ignore":{"selectors":["footer"]}}'] });

/** Throws VALIDATION_FAILED with the field, `rules.ignore.patterns.0`. */
export function rulesOf(text: string | undefined): DiffRules {
  let value: unknown;
  try {
    value = text === undefined ? {} : JSON.parse(text);
  } catch {
    throw invalidRequest([{ field: 'rules', message: '`rules` is not JSON.' }]);
  }
  try {
    return parseRequest(diffRulesSchema, value);
  } catch (error) {
    if (!isScrapifieError(error) || !Array.isArray(error.details)) throw error;
    const problems = error.details as readonly { readonly field: string; readonly message: string }[];
    throw invalidRequest(
      problems.map(({ field, message }) => ({ field: field === '' ? 'rules' : `rules.${field}`, message })),
    );
  }
}

/** Types as a list with commas. Throws VALIDATION_FAILED for one that there is not. */
export const typesParameter = z
  .string()
  .max(200)
  .optional()
  .describe(
    `Only these, with commas between them: ${CHANGE_TYPES.join(', ')}. Unless given: all but UNCHANGED.`,
  )
  .meta({ examples: ['ADDED,REMOVED'] });

export function typesOf(text: string | undefined): readonly (typeof CHANGE_TYPES)[number][] {
  if (text === undefined) return CHANGE_TYPES.filter((type) => type !== 'UNCHANGED');
  const names = text.split(',').map((name) => name.trim().toUpperCase());
  const known = CHANGE_TYPES.filter((type) => names.includes(type));
  const unknown = names.filter((name) => !(CHANGE_TYPES as readonly string[]).includes(name));
  if (unknown.length > 0) {
    const message = `There is no type ${unknown[0]?.slice(0, 40)}; the types are ${CHANGE_TYPES.join(', ')}.`;
    throw invalidRequest([{ field: 'type', message }]);
  }
  return known;
}
