import { isPluginPart } from '../../core/config/plugin-part.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { article } from './article.ts';
import { Draft, defineType, type FieldOrigin, type TypedFieldProblem, type TypeSpec } from './draft.ts';
import { event } from './event.ts';
import { TypedEvidence, type TypedPage } from './evidence.ts';
import { field } from './field.ts';
import { forumThread } from './forum-thread.ts';
import { jobPosting } from './job-posting.ts';
import { linkedinProfile } from './linkedin-profile.ts';
import { companyWebsite, organization } from './organization.ts';
import { product } from './product/product.ts';
import { recipe } from './recipe.ts';

/** The position of a page in its site. */
const breadcrumbs = defineType({
  name: 'breadcrumbs',
  says: 'The position of a page in its site.',
  fields: {
    items: field('crumbs', 'From the root down: `name` and `url` each.'),
    url: field('url', 'The address the page wants to be known by.'),
  },

  weigh(evidence) {
    return evidence.parts.breadcrumbs === null ? 0 : 0.32;
  },

  read(evidence, draft) {
    const trail = evidence.parts.breadcrumbs;
    if (trail !== null) draft.give('items', trail.crumbs, trail.from);
    draft.give('url', evidence.address.url, evidence.address.source, 0.9);
  },
});

/** Every type there is. The order decides between types with equal scores. */
export const TYPES = {
  product,
  job_posting: jobPosting,
  recipe,
  event,
  forum_thread: forumThread,
  linkedin_profile: linkedinProfile,
  article,
  company_website: companyWebsite,
  organization,
  breadcrumbs,
} as const satisfies Readonly<Record<string, TypeSpec>>;

export type TypeName = keyof typeof TYPES;
export const TYPE_NAMES = Object.keys(TYPES) as readonly TypeName[];

export interface TypedResult {
  /** Null when `auto` found no type. */
  readonly type: string | null;
  /** Every field of the type, null where the page has no value; null without a type. */
  readonly value: Readonly<Record<string, unknown>> | null;
  /** Source and confidence of every field that is not null. */
  readonly by: Readonly<Record<string, FieldOrigin>>;
  /** Values that were found but could not be parsed, and what plug-ins threw. */
  readonly problems: readonly TypedFieldProblem[];
  /** How likely the page is of the type, between 0 and 1, by evidence on the page; 0 without a type. */
  readonly confidence: number;
}

/** Types by their names; the order decides between types with equal scores. */
export type TypeSpecs = Readonly<Record<string, TypeSpec>>;

/** `auto` chooses a type that is at least as likely. */
export const LEAST_PROBABILITY = 0.3;

/**
 * Extracts a typed record from a page. Pure, bounded by the limits of tree, data and state. Throws UNSUPPORTED_OPTION for a
 * type that is not among `types`, and nothing else: a type of a plug-in that throws is a problem of the page, and the fields
 * that it had given stay.
 */
export function extractTyped(page: TypedPage, type: string, types: TypeSpecs = TYPES): TypedResult {
  const evidence = new TypedEvidence(page);
  const failures: TypedFieldProblem[] = [];
  const chosen = type === 'auto' ? likeliest(evidence, types, failures) : type;
  if (chosen === null) return { type: null, value: null, by: {}, problems: failures, confidence: 0 };
  const spec = types[chosen];
  if (spec === undefined) {
    throw new ScrapifieError('UNSUPPORTED_OPTION', `No plug-in of this process has the type ${chosen}.`);
  }
  const draft = new Draft(spec.fields, evidence.context());
  attempt(chosen, failures, () => spec.read(evidence, draft));
  const confidence = scoreOf(spec, chosen, evidence, failures);
  const { value, by } = draft.finish();
  return { type: chosen, value, by, problems: [...failures, ...draft.problems], confidence };
}

/** The type with the highest score, the first of the registry among equals; null below the lowest score. */
function likeliest(evidence: TypedEvidence, types: TypeSpecs, failures: TypedFieldProblem[]): string | null {
  let best: string | null = null;
  let most = LEAST_PROBABILITY;
  for (const [name, spec] of Object.entries(types)) {
    const weight = scoreOf(spec, name, evidence, failures);
    if (weight <= most) continue;
    best = name;
    most = weight;
  }
  return best;
}

/** 0 when the type throws, or returns a value that is not a probability. */
function scoreOf(
  spec: TypeSpec,
  name: string,
  evidence: TypedEvidence,
  failures: TypedFieldProblem[],
): number {
  let score = 0;
  attempt(name, failures, () => {
    score = spec.weigh(evidence);
  });
  return score >= 0 && score <= 1 ? score : 0;
}

const MOST_MESSAGE_CHARS = 300;

/** Errors of plug-ins are problems of the page. Those of our own types are faults of the program, and are thrown. */
function attempt(name: string, failures: TypedFieldProblem[], work: () => void): void {
  try {
    work();
  } catch (error) {
    if (!isPluginPart(name)) throw error;
    const words = error instanceof Error ? error.message : String(error);
    const message = `${name} threw: ${words}`.slice(0, MOST_MESSAGE_CHARS);
    failures.push({ field: '', source: 'markup', code: 'PLUGIN_FAILED', message });
  }
}
