import type { ReasonSpec, ReasonsOf } from './reason-spec.ts';

const SHARED = {
  resumeWithMore: 'Resume the job with a larger budget.',
  askOperator: 'Ask the operator, whose policy file denies the host.',
  unreached: 'Therefore robots.txt could not be read either ({what}).',
} as const;

/** Why a URL belongs to the job or does not, and which duplicates are left out. */
const SCOPE_REASONS = {
  'scope.depth': {
    words: 'It is {depth} links away from a start URL, and the job follows at most {maxDepth} (`maxDepth`).',
    advice: 'Start the crawl again with a larger `maxDepth`.',
    isProvisional: true,
  },
  'scope.nofollow': {
    words: 'The link to it, or the page with the link, says nofollow, which the job obeys (`obeyNofollow`).',
    advice: 'Start the crawl again with `obeyNofollow: false`.',
    isProvisional: true,
  },
  'scope.noindex': {
    words: 'The page says noindex, and the job keeps no such pages (`obeyNoindex`).',
    advice: 'Start the crawl again with `obeyNoindex: false`.',
  },
  'scope.domain': {
    words: '{host} is not among the hosts of the job (`allowedDomains`, `allowSubdomains`, `allowExternal`).',
    advice: 'Start the crawl again with the host in `allowedDomains`, or with `allowSubdomains`.',
  },
  'scope.exclude': {
    parameter: 'text',
    words: 'The exclude pattern `{what}` matches it.',
    advice: 'Start the crawl again without the exclude pattern.',
  },
  'scope.include': {
    words: 'None of the include patterns matches it: {include}.',
    advice: 'Start the crawl again with an include pattern that matches.',
  },
  'scope.trap': {
    parameter: 'trap',
    words: 'It looks like one of endlessly many URLs: {trap}.',
    advice: 'Name the URLs in a batch if they are wanted: a crawl does not follow endless ones.',
  },
  'scope.log-out': {
    words:
      'The link logs out, and the job is logged in (`session`, `cookies`, `headers`): it would end its own session.',
  },
  'scope.pattern-cost': {
    words: 'Matching the patterns of the job against its URL would take too long.',
    advice: 'Start the crawl again with simpler patterns.',
  },
} as const satisfies Readonly<Record<string, ReasonSpec>>;

const OTHER_REASONS = {
  'duplicate.redirect': {
    parameter: 'text',
    words: 'It redirects to {what}, which the job has already.',
    bareWords: '{foundOn} redirects to it, and the page is stored there.',
  },
  'duplicate.canonical': {
    parameter: 'text',
    words: '{what} names it as its canonical address, and is stored in its place.',
  },
  'map.listed': {
    words: 'It is in the list of the map, and a map does not fetch the pages that it lists.',
    advice: 'Start a crawl of the site, or a batch of these URLs.',
  },
  'route.not-kept': {
    parameter: 'text',
    words: 'Its links were followed, and the route `{what}` keeps no such pages (`keep`).',
  },
  'budget.pages': {
    words: 'The job had reached its limit{ofLimit} (`maxPages`).',
    stopWords: 'The job stopped at its limit of {limit}.',
    budget: 'maxPages',
    isUndoneByResume: true,
    code: 'BUDGET_SPENT',
    advice: SHARED.resumeWithMore,
  },
  'budget.bytes': {
    words: 'The job had reached its limit{ofLimit} (`maxBytes`).',
    stopWords: 'The job stopped at its limit of {limit}.',
    budget: 'maxBytes',
    isUndoneByResume: true,
    code: 'BUDGET_SPENT',
    advice: SHARED.resumeWithMore,
  },
  'budget.duration': {
    words: 'The job had reached its limit{ofLimit} (`maxDurationMs`).',
    stopWords: 'The job stopped at its limit of {limit}.',
    budget: 'maxDurationMs',
    isUndoneByResume: true,
    code: 'BUDGET_SPENT',
    advice: SHARED.resumeWithMore,
  },
  'budget.browser': {
    words: 'The job had reached its limit{ofLimit} in browsers (`maxBrowserMs`).',
    stopWords: 'The job stopped at its limit of {limit} in browsers.',
    budget: 'maxBrowserMs',
    isUndoneByResume: true,
    code: 'BUDGET_SPENT',
    advice: SHARED.resumeWithMore,
  },
  'budget.proxy': {
    words: 'The job had reached its limit{ofLimit} through proxies (`maxProxyBytes`).',
    stopWords: 'The job stopped at its limit of {limit} through proxies.',
    budget: 'maxProxyBytes',
    isUndoneByResume: true,
    code: 'BUDGET_SPENT',
    advice: SHARED.resumeWithMore,
  },
  'budget.credits': {
    words: 'The job had reached its limit{ofLimit} (`maxCredits`).',
    stopWords: 'The job stopped at its limit of {limit}.',
    budget: 'maxMicrocredits',
    isUndoneByResume: true,
    code: 'BUDGET_SPENT',
    advice: SHARED.resumeWithMore,
  },
  'credits.exhausted': {
    words: 'The job had stopped, because its account could not pay for another page.',
    stopWords:
      'The job stopped because its account could not pay for another page; resume it when the account has credits.',
    code: 'CREDITS_EXHAUSTED',
    advice: 'Add credits to the account, then resume the job.',
  },
  'limit.stored-bytes': {
    words: 'The job had stopped, because its account stores as much as it may.',
    stopWords: 'The job stopped because its account stores as much as it may; resume it when there is room.',
    code: 'STORAGE_LIMIT',
    advice: 'Delete jobs or raise the limit of the account, then resume the job.',
  },
  'login-walls': {
    words: 'The job had stopped, because its pages ask to log in (`maxLoginWalls`).',
    stopWords: 'The job stopped because its pages ask to log in; resume it when its session is logged in.',
    isUndoneByResume: true,
    code: 'LOGIN_REQUIRED',
    advice: 'Log the session of the job in, then resume the job.',
  },
  wait: {
    parameter: 'code',
    words: 'Its request was answered before it was fetched: {meaning}',
    stopWords: 'The job was given up, because it could not end in time: {meaning}',
  },
  robots: {
    parameter: 'text',
    separator: ': ',
    words: 'robots.txt does not allow it: `{what}`.',
    code: 'ROBOTS_DISALLOWED',
    advice: 'Ask the owner of the site: robots.txt is obeyed.',
  },
  // The network is the cause, so it comes first; robots.txt is only the first file that could not be fetched.
  'robots.unreachable': {
    parameter: 'text',
    separator: ': ',
    words: 'robots.txt could not be read ({what}), which puts the whole host off limits for now.',
    wordsFor: {
      ADDRESS_REFUSED: `The address of {hostName} is private or reserved, and is not fetched; --allow-private or SCRAPIFIE_ALLOW_PRIVATE allows private addresses. ${SHARED.unreached}`,
      CONNECT_FAILED: `{host} refuses connections or cannot be reached. ${SHARED.unreached}`,
      DNS_FAILED: `{hostName} has no address in DNS. ${SHARED.unreached}`,
      TLS_FAILED: `{host} has no certificate that is trusted, or does not speak TLS. ${SHARED.unreached}`,
    },
    code: 'ROBOTS_UNREACHABLE',
    advice: 'Try the host again later: its robots.txt could not be read.',
  },
  'robots.no-way-out': {
    parameter: 'code',
    separator: ': ',
    words: 'robots.txt could not be asked for through the proxy ({what}).',
    namesCode: true,
  },
  'opt-out': {
    parameter: 'text',
    words: 'The owner of {what} has opted out of being crawled.',
    bareWords: 'The owner of {host} has opted out of being crawled.',
    code: 'DOMAIN_DENIED',
    advice: 'The owner of the site does not want to be crawled.',
  },
  'policy.deny-list': {
    parameter: 'text',
    words: 'The deny list of the policy file has `{what}`.',
    code: 'DOMAIN_DENIED',
    advice: SHARED.askOperator,
  },
  'policy.deny': {
    parameter: 'text',
    words: 'The policy for `{what}` says `deny: true`.',
    code: 'DOMAIN_DENIED',
    advice: SHARED.askOperator,
  },
  'policy.allow-list': {
    words: '{host} is not on the allow list of the policy file.',
    code: 'DOMAIN_DENIED',
    advice: SHARED.askOperator,
  },
  'site.sitemaps': {
    parameter: 'count',
    words: 'robots.txt names {what} sitemaps, which were read for URLs.',
  },
  'site.no-sitemap-declared': { words: 'robots.txt names no sitemap, so /sitemap.xml was looked for.' },
  sitemap: {
    parameter: 'text',
    separator: '.',
    words: 'The sitemap was not read to its end: {meaning}',
  },
  outcome: { parameter: 'outcome', separator: '.', words: 'The response was classified as {what}.' },
  attempt: {
    parameter: 'outcome',
    separator: '.',
    words: 'The last attempt ended as {what}.',
    wordsFor: { error: 'No attempt brought the page.' },
  },
  retry: {
    parameter: 'end',
    words: 'It is tried again, because the attempt before ended with {what}.',
    namesCode: true,
  },
  'own-fault': {
    parameter: 'code',
    words: 'It is tried again, because of a fault on this side: {meaning}',
    namesCode: true,
  },
  'proxy.resting': {
    words: 'It waits for a proxy: every proxy that fits rests at the moment.',
    code: 'NO_HEALTHY_PROXY',
  },
  'own-proxy.paused': {
    words: 'It waits: the host answered through the proxy of the request that it wants a pause.',
    code: 'HOST_RATE_LIMITED',
  },
  'own-time-limit.paused': {
    words: 'It waits: too many URLs of the job got no answer within the time limit that the request sets.',
    code: 'CIRCUIT_OPEN',
  },
  interruptions: { parameter: 'count', words: 'Processes died {what} times while they worked on it.' },
  'task.time-limit': {
    parameter: 'count',
    words: 'All attempts together took longer than the {time} that they may take (`taskTimeoutMs`).',
  },
  'login-wall': { words: 'It leads to a page that asks to log in.' },
  'store.refused': { words: 'The store cannot keep what the page brought.' },
} as const satisfies Readonly<Record<string, ReasonSpec>>;

/** Why a URL of a job was skipped, denied, given up or put off, and why a job ended early. */
export const TASK_REASONS = { ...SCOPE_REASONS, ...OTHER_REASONS };

/** Why a URL is not part of its job. */
export type ScopeReason = ReasonsOf<typeof SCOPE_REASONS>;
/** The reason of the URL that a redirect led to. */
type RedirectedReason = `${ScopeReason | 'login-wall'} (redirect)`;
export type TaskReason = ReasonsOf<typeof TASK_REASONS> | RedirectedReason;

type StopSpecs = {
  [Name in keyof typeof TASK_REASONS as (typeof TASK_REASONS)[Name] extends { readonly stopWords: string }
    ? Name
    : never]: (typeof TASK_REASONS)[Name];
};
/** Why a job ended early. */
export type StopReason = ReasonsOf<StopSpecs>;
