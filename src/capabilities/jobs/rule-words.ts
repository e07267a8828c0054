import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { CREDITS_EXHAUSTED, creditsOf } from '../../core/model/credits.ts';
import type { Job } from '../../core/model/job.ts';
import type { LedgerEntry } from '../../core/model/task.ts';
import { planSentence } from '../../crawl/plan/ladder/plan-words.ts';
import { describeBytes, describeCount, describeMs } from '../../lib/human-units.ts';

/** The part of a job that the sentences name: its limits and patterns. */
export type RuledJob = Pick<Job, 'options'>;

/** What the sentence is about. */
export type RuledUrl = Pick<LedgerEntry, 'url' | 'depth' | 'foundOn'>;

/**
 * The rule of a line of the ledger as a sentence; null for a line without a rule. Without the job, the sentence does not
 * name the limits and patterns of the job.
 */
export function ruleSentence(rule: string | null, entry: RuledUrl, job: RuledJob | null): string | null {
  if (rule === null) return null;
  if (rule.endsWith(REDIRECTED)) {
    const inner = ruleSentence(rule.slice(0, -REDIRECTED.length), entry, job);
    return `It redirects to a URL that is not part of the job. ${inner}`;
  }
  if (rule.startsWith('plan.')) return planSentence(rule, hostOf(entry.url));
  for (const [prefix, sentence] of SENTENCES) {
    if (rule.startsWith(prefix)) return sentence(rule.slice(prefix.length), entry, job);
  }
  return `The rule ${rule} decided.`;
}

/** Why the job ended early, as a sentence; null when it did not. */
export function stopSentence({
  stopReason,
  options: { budgets },
}: Pick<Job, 'stopReason'> & { readonly options: Pick<Job['options'], 'budgets'> }): string | null {
  if (stopReason === null) return null;
  if (stopReason === 'budget.pages')
    return `The job stopped at its limit of ${describeCount(budgets.maxPages ?? 0, 'page')}.`;
  if (stopReason === 'budget.bytes')
    return `The job stopped at its limit of ${describeBytes(budgets.maxBytes ?? 0)}.`;
  if (stopReason === 'budget.duration')
    return `The job stopped at its limit of ${describeMs(budgets.maxDurationMs ?? 0)}.`;
  if (stopReason === 'budget.browser')
    return `The job stopped at its limit of ${describeMs(budgets.maxBrowserMs ?? 0)} in browsers.`;
  if (stopReason === 'budget.proxy')
    return `The job stopped at its limit of ${describeBytes(budgets.maxProxyBytes ?? 0)} through proxies.`;
  if (stopReason === 'budget.credits')
    return `The job stopped at its limit of ${creditsOf(budgets.maxMicrocredits ?? 0)} credits.`;
  if (stopReason === CREDITS_EXHAUSTED)
    return 'The job stopped because its account could not pay for another page; resume it when the account has credits.';
  if (stopReason === 'limit.stored-bytes')
    return 'The job stopped because its account stores as much as it may; resume it when there is room.';
  if (stopReason === 'login-walls')
    return 'The job stopped because its pages ask to log in; resume it when its session is logged in.';
  if (stopReason.startsWith(WAIT))
    return `The job was given up, because it could not end in time: ${meaningOf(stopReason.slice(WAIT.length))}`;
  return `The job stopped early (${stopReason}).`;
}

const REDIRECTED = ' (redirect)';
/** Before the code of the wait for which a request was answered at once. */
const WAIT = 'wait:';

const hostOf = (url: string): string => URL.parse(url)?.host ?? url;
const hostNameOf = (url: string): string => URL.parse(url)?.hostname ?? url;

type Sentence = (what: string, entry: RuledUrl, job: RuledJob | null) => string;

const isCode = (text: string): text is ErrorCode => Object.hasOwn(ERRORS, text);
const meaningOf = (text: string): string => (isCode(text) ? `${text}: ${ERRORS[text].meaning}` : `${text}.`);
const list = (patterns: readonly string[]): string => patterns.map((each) => `\`${each}\``).join(', ');

const of = (limit: number | null | undefined, told: (limit: number) => string): string =>
  limit === null || limit === undefined ? '' : ` of ${told(limit)}`;

/** The network is the cause, so it comes first; robots.txt is only the first file that could not be fetched. */
function unreachableSentence(why: string, url: string): string {
  const cause = NETWORK_CAUSES[why]?.(url);
  return cause === undefined
    ? `robots.txt could not be read (${why}), which puts the whole host off limits for now.`
    : `${cause} Therefore robots.txt could not be read either (${why}).`;
}

const NETWORK_CAUSES: Readonly<Record<string, (url: string) => string>> = {
  ADDRESS_REFUSED: (url) =>
    `The address of ${hostNameOf(url)} is private or reserved, and is not fetched; --allow-private or SCRAPIFIE_ALLOW_PRIVATE allows private addresses.`,
  CONNECT_FAILED: (url) => `${hostOf(url)} refuses connections or cannot be reached.`,
  DNS_FAILED: (url) => `${hostNameOf(url)} has no address in DNS.`,
  TLS_FAILED: (url) => `${hostOf(url)} has no certificate that is trusted, or does not speak TLS.`,
};

const TRAPS: Readonly<Record<string, string>> = {
  'url-length': 'its URL is longer than 2,048 characters',
  'path-depth': 'its path has more than 30 parts',
  'repeated-segment': 'a part of its path repeats more than three times',
  'query-calendar': 'its query leads through the dates of a calendar',
  'query-facets': 'its query is one more combination of filters',
  'query-session': 'its query has the id of a session',
};

/** The beginning of a rule and its sentence; the first that fits counts. */
const SENTENCES: readonly (readonly [string, Sentence])[] = [
  [
    'scope.depth',
    (_what, { depth }, job) =>
      `It is ${depth} links away from a start URL, and the job follows at most ${job?.options.scope.maxDepth ?? 'some'} (\`maxDepth\`).`,
  ],
  [
    'scope.nofollow',
    () => 'The link to it, or the page with the link, says nofollow, which the job obeys (`obeyNofollow`).',
  ],
  ['scope.noindex', () => 'The page says noindex, and the job keeps no such pages (`obeyNoindex`).'],
  [
    'scope.domain',
    (_what, { url }) =>
      `${hostOf(url)} is not among the hosts of the job (\`allowedDomains\`, \`allowSubdomains\`, \`allowExternal\`).`,
  ],
  ['scope.exclude:', (pattern) => `The exclude pattern \`${pattern}\` matches it.`],
  [
    'scope.include',
    (_what, _entry, job) =>
      `None of the include patterns matches it: ${list(job?.options.scope.include ?? [])}.`,
  ],
  ['scope.trap:', (trap) => `It looks like one of endlessly many URLs: ${TRAPS[trap] ?? trap}.`],
  [
    'scope.log-out',
    () =>
      'The link logs out, and the job is logged in (`session`, `cookies`, `headers`): it would end its own session.',
  ],
  ['scope.pattern-cost', () => 'Matching the patterns of the job against its URL would take too long.'],
  ['duplicate.redirect:', (url) => `It redirects to ${url}, which the job has already.`],
  [
    'duplicate.redirect',
    (_what, { foundOn }) => `${foundOn ?? 'Another URL'} redirects to it, and the page is stored there.`,
  ],
  ['duplicate.canonical:', (url) => `${url} names it as its canonical address, and is stored in its place.`],
  ['map.listed', () => 'It is in the list of the map, and a map does not fetch the pages that it lists.'],
  [
    'budget.pages',
    (_what, _entry, job) =>
      `The job had reached its limit${of(job?.options.budgets.maxPages, (pages) => describeCount(pages, 'page'))} (\`maxPages\`).`,
  ],
  [
    'budget.bytes',
    (_what, _entry, job) =>
      `The job had reached its limit${of(job?.options.budgets.maxBytes, describeBytes)} (\`maxBytes\`).`,
  ],
  [
    'budget.duration',
    (_what, _entry, job) =>
      `The job had reached its limit${of(job?.options.budgets.maxDurationMs, describeMs)} (\`maxDurationMs\`).`,
  ],
  [
    'budget.browser',
    (_what, _entry, job) =>
      `The job had reached its limit${of(job?.options.budgets.maxBrowserMs, describeMs)} in browsers (\`maxBrowserMs\`).`,
  ],
  [
    'budget.proxy',
    (_what, _entry, job) =>
      `The job had reached its limit${of(job?.options.budgets.maxProxyBytes, describeBytes)} through proxies (\`maxProxyBytes\`).`,
  ],
  [
    'budget.credits',
    (_what, _entry, job) =>
      `The job had reached its limit${of(job?.options.budgets.maxMicrocredits, (limit) => `${creditsOf(limit)} credits`)} (\`maxCredits\`).`,
  ],
  [CREDITS_EXHAUSTED, () => 'The job had stopped, because its account could not pay for another page.'],
  ['limit.stored-bytes', () => 'The job had stopped, because its account stores as much as it may.'],
  ['login-walls', () => 'The job had stopped, because its pages ask to log in (`maxLoginWalls`).'],
  [WAIT, (code) => `Its request was answered before it was fetched: ${meaningOf(code)}`],
  [
    'route.not-kept:',
    (pattern) => `Its links were followed, and the route \`${pattern}\` keeps no such pages (\`keep\`).`,
  ],
  ['robots: ', (line) => `robots.txt does not allow it: \`${line}\`.`],
  ['robots.unreachable: ', (why, { url }) => unreachableSentence(why, url)],
  ['robots.no-way-out: ', (code) => `robots.txt could not be asked for through the proxy (${code}).`],
  ['opt-out:', (host) => `The owner of ${host} has opted out of being crawled.`],
  ['policy.deny-list:', (pattern) => `The deny list of the policy file has \`${pattern}\`.`],
  ['policy.deny:', (entry) => `The policy for \`${entry}\` says \`deny: true\`.`],
  ['policy.allow-list', (_what, { url }) => `${hostOf(url)} is not on the allow list of the policy file.`],
  ['site.sitemaps:', (count) => `robots.txt names ${count} sitemaps, which were read for URLs.`],
  ['site.no-sitemap-declared', () => 'robots.txt names no sitemap, so /sitemap.xml was looked for.'],
  ['sitemap.', (what) => `The sitemap was not read to its end: ${meaningOf(what)}`],
  ['outcome.', (outcome) => `The response was classified as ${outcome}.`],
  ['attempt.error', () => 'No attempt brought the page.'],
  ['attempt.', (outcome) => `The last attempt ended as ${outcome}.`],
  ['retry:', (cause) => `It is tried again, because the attempt before ended with ${cause}.`],
  ['own-fault:', (code) => `It is tried again, because of a fault on this side: ${meaningOf(code)}`],
  ['proxy.resting', () => 'It waits for a proxy: every proxy that fits rests at the moment.'],
  [
    'own-proxy.paused',
    () => 'It waits: the host answered through the proxy of the request that it wants a pause.',
  ],
  ['interruptions:', (count) => `Processes died ${count} times while they worked on it.`],
  ['store.refused', () => 'The store cannot keep what the page brought.'],
];
