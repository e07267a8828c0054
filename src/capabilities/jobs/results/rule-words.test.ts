import { expect, it } from 'vitest';
import { OPTIONS } from '../../../../test/contract/store/fixtures.ts';
import { ruleSentence, stopSentence } from './outcome-words.ts';

const options = {
  ...OPTIONS,
  scope: { ...OPTIONS.scope, maxDepth: 2, include: ['/blog/*', '/news/*'] },
  budgets: {
    maxPages: 30,
    maxBytes: 1_000,
    maxDurationMs: 90_000,
    maxBrowserMs: 7_000,
    maxProxyBytes: 80_000,
  },
};
const entry = { url: 'https://shop.test/x', depth: 3, foundOn: 'https://shop.test/' };

it.each([
  ['scope.depth', 'It is 3 links away from a start URL, and the job follows at most 2 (`maxDepth`).'],
  ['scope.exclude:/admin/', 'The exclude pattern `/admin/` matches it.'],
  ['scope.include', 'None of the include patterns matches it: `/blog/*`, `/news/*`.'],
  ['scope.trap:path-depth', 'It looks like one of endlessly many URLs: its path has more than 30 parts.'],
  [
    'scope.exclude:/admin/ (redirect)',
    'It redirects to a URL that is not part of the job. The exclude pattern `/admin/` matches it.',
  ],
  ['robots: disallow: /x (line 3)', 'robots.txt does not allow it: `disallow: /x (line 3)`.'],
  [
    'scope.trap:query-facets',
    'It looks like one of endlessly many URLs: its query is one more combination of filters.',
  ],
  ['budget.pages', 'The job had reached its limit of 30 pages (`maxPages`).'],
  ['budget.browser', 'The job had reached its limit of 7.0 s in browsers (`maxBrowserMs`).'],
  ['budget.proxy', 'The job had reached its limit of 80.0 kB through proxies (`maxProxyBytes`).'],
  ['login-walls', 'The job had stopped, because its pages ask to log in (`maxLoginWalls`).'],
  [
    'route.not-kept:/list/*',
    'Its links were followed, and the route `/list/*` keeps no such pages (`keep`).',
  ],
  ['policy.deny-list:*.shop.test', 'The deny list of the policy file has `*.shop.test`.'],
  ['duplicate.redirect', 'https://shop.test/ redirects to it, and the page is stored there.'],
  [
    'duplicate.redirect:https://shop.test/y',
    'It redirects to https://shop.test/y, which the job has already.',
  ],
  ['plan.not-allowed:browser', 'The policy for shop.test does not allow engine `browser`.'],
  ['brand.new', 'The rule brand.new decided.'],
])('%s: %s', (rule, sentence) => {
  expect(ruleSentence(rule, entry, { options })).toBe(sentence);
});

it('a line without a rule has no sentence', () => {
  expect(ruleSentence(null, entry, { options })).toBeNull();
});

it('a limit that is not known is not named', () => {
  expect(ruleSentence('budget.pages', entry, null)).toBe('The job had reached its limit (`maxPages`).');
});

it.each([
  ['budget.pages', 'The job stopped at its limit of 30 pages.'],
  ['budget.bytes', 'The job stopped at its limit of 1.0 kB.'],
  ['budget.duration', 'The job stopped at its limit of 1 min 30 s.'],
  ['budget.browser', 'The job stopped at its limit of 7.0 s in browsers.'],
  ['budget.proxy', 'The job stopped at its limit of 80.0 kB through proxies.'],
  [
    'login-walls',
    'The job stopped because its pages ask to log in; resume it when its session is logged in.',
  ],
  [
    'wait:OUTSIDE_HOURS',
    'The job was given up, because it could not end in time: OUTSIDE_HOURS: Policy allows this host only in certain hours.',
  ],
  ['other', 'The job stopped early (other).'],
])('a job that ended by %s says: %s', (stopReason, sentence) => {
  expect(stopSentence({ stopReason, options })).toBe(sentence);
  expect(stopSentence({ stopReason: null, options })).toBeNull();
});
