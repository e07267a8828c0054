import type { ReasonSpec, ReasonsOf } from './reason-spec.ts';

/** Why an attempt was made the way it was made, or why no further one was. */
export const PLAN_REASONS = {
  'cache.hit': {
    words: 'A page that is stored already answers it, as `maxAge` allows; no request was sent.',
  },
  'plan.cheapest': { words: 'It is the cheapest way to fetch a page.' },
  'plan.requested': { words: 'The request names this engine.' },
  'plan.needs': { parameter: 'text', words: 'The options of the request need {quoted}.' },
  'plan.remembered': { words: 'This way has worked on {host} before.' },
  'plan.probe': { words: 'A cheaper way is tried now and then, in case {host} has changed.' },
  'plan.retry': { parameter: 'text', words: 'The attempt before ended with {what}, which may pass.' },
  'plan.render': {
    parameter: 'text',
    words: 'The page is empty without its scripts, so a browser renders it.',
  },
  'plan.escalate': {
    parameter: 'text',
    words: '{host} refused the attempt before ({what}), so a dearer way is tried.',
  },
  'plan.solve': { parameter: 'text', words: 'A solver service is asked about the {what}.' },
  'plan.none': { words: 'No way had been chosen yet.' },
  'plan.over': { parameter: 'end', words: 'The attempt settles it ({what}).' },
  'plan.attempts-spent': { parameter: 'count', words: 'All {what} attempts are used up.' },
  'plan.way-gone': {
    parameter: 'text',
    words: 'The attempt before ended with {what}, and its way is no longer there.',
  },
  'plan.nothing-left': { parameter: 'text', words: 'No other way is left ({what}).' },
  'plan.no-proxy-tier': {
    parameter: 'text',
    words: 'There is no proxy of the tier `{what}` here (SCRAPIFIE_PROXY_FILE).',
    wordsFor: { any: 'No proxies are set up here (SCRAPIFIE_PROXY_FILE).' },
  },
  'plan.no-engine': {
    parameter: 'text',
    words: 'The engine `{what}` is not installed here.',
    wordsFor: { auto: 'No engine is installed here.' },
  },
  'plan.not-allowed': {
    parameter: 'text',
    words: 'The policy for {host} does not allow engine `{what}`.',
    wordsFor: { auto: 'The policy for {host} allows no engine that is installed here.' },
  },
  'plan.cannot': {
    parameter: 'text',
    words: 'No engine that the policy for {host} allows can do this: {quoted}.',
  },
  'plan.no-identity': { parameter: 'text', words: 'No engine here can present the identity `{what}`.' },
  'plan.consent-required': {
    parameter: 'text',
    words: 'The policy for {host} does not consent to {quoted}.',
  },
  'plan.no-worker': {
    parameter: 'text',
    words: 'No process that runs the engine {quoted} answers at the moment.',
  },
} as const satisfies Readonly<Record<string, ReasonSpec>>;

export type PlanReason = ReasonsOf<typeof PLAN_REASONS>;
