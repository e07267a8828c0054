import type { ErrorCode } from '../errors/registry.ts';
import type { OutcomeKind } from './attempt.ts';

/** What a reason may name behind its own name, and which texts that can be. */
export interface ReasonParameters {
  readonly text: string;
  readonly count: number;
  readonly code: ErrorCode;
  readonly outcome: OutcomeKind;
  /** What an attempt ended with: the code of its error, else its outcome. */
  readonly end: ErrorCode | OutcomeKind;
  readonly trap: TrapName;
}

/** URLs without end, by what gives them away. */
export const TRAPS = {
  'url-length': 'its URL is longer than 2,048 characters',
  'path-depth': 'its path has more than 30 parts',
  'repeated-segment': 'a part of its path repeats more than three times',
  'query-calendar': 'its query leads through the dates of a calendar',
  'query-facets': 'its query is one more combination of filters',
  'query-session': 'its query has the id of a session',
} as const satisfies Readonly<Record<string, string>>;
export type TrapName = keyof typeof TRAPS;

/** The limits of a job, and what each is counted in. */
export const BUDGET_UNITS = {
  maxPages: 'pages',
  maxBytes: 'bytes',
  maxDurationMs: 'ms',
  maxBrowserMs: 'ms',
  maxProxyBytes: 'bytes',
  maxMicrocredits: 'microcredits',
} as const;
export type BudgetName = keyof typeof BUDGET_UNITS;

/**
 * A reason of the registry. Words for people are sentences with `{names}` that `fillWords` of `capabilities/jobs/results/outcome-words.ts` and
 * `planSentence` fill in: `{what}` is the parameter, `{quoted}` the same as a list of names, `{meaning}` an error code with its meaning,
 * `{trap}` the words of a trap, `{time}` a duration; `{host}`, `{hostName}`, `{depth}` and `{foundOn}` are of the URL; `{maxDepth}`,
 * `{include}`, `{limit}` and `{ofLimit}` of the job; `{at}` is a time.
 */
export interface ReasonSpec {
  /** What the name is followed by. Missing: the reason is its name alone. */
  readonly parameter?: keyof ReasonParameters;
  /** What stands between the name and the parameter. Missing: a colon. */
  readonly separator?: ': ' | '.';
  /** Why the URL, the attempt or the host is treated as it is. */
  readonly words: string;
  /** The parameter may be missing, and these are the words then. */
  readonly bareWords?: string;
  /** Words for some parameters, in place of `words`. */
  readonly wordsFor?: Readonly<Record<string, string>>;
  /** What the caller can do about it. */
  readonly advice?: string;
  /** The error code that stands for it where a request gets no page. */
  readonly code?: ErrorCode;
  /** The parameter is that code. */
  readonly namesCode?: true;
  /** The words of a job that the reason ended early; the URLs that were left are skipped by the same reason. Missing: no job is ended by it. */
  readonly stopWords?: string;
  /** The limit of the job that it speaks of. */
  readonly budget?: BudgetName;
  /** URLs that it skipped are ready again when their job is resumed, whatever stopped the job last. */
  readonly isUndoneByResume?: true;
  /**
   * The reason speaks of the way to a URL and not of the URL: when another way leads there that it does not object to, the task
   * becomes ready after all.
   */
  readonly isProvisional?: true;
  /** What a URL waits for while the host is held by it, where its code is also that of another cause. */
  readonly holdWords?: string;
}

type Separator<Spec> = Spec extends { readonly separator: infer Between extends string } ? Between : ':';

type TextOf<Name extends string, Spec> = Spec extends {
  readonly parameter: infer Parameter extends keyof ReasonParameters;
}
  ?
      | `${Name}${Separator<Spec>}${ReasonParameters[Parameter]}`
      | (Spec extends { readonly bareWords: string } ? Name : never)
  : Name;

/** Every text that is a reason of these. */
export type ReasonsOf<Specs> = {
  [Name in keyof Specs & string]: TextOf<Name, Specs[Name]>;
}[keyof Specs & string];

/** The words for what the reason names; null when it names nothing, although its words need it to. */
export function reasonWords(spec: ReasonSpec, what: string | null): string | null {
  if (spec.parameter === undefined) return spec.words;
  if (what === null) return spec.bareWords ?? null;
  const own = spec.wordsFor;
  return own !== undefined && Object.hasOwn(own, what) ? (own[what] ?? spec.words) : spec.words;
}

/** The sentence with a value for each `{name}`. */
export const fillWords = (words: string, values: Readonly<Record<string, () => string>>): string =>
  words.replace(/\{(\w+)\}/g, (whole, name: string) => values[name]?.() ?? whole);
