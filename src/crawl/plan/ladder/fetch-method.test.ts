import { expect, it } from 'vitest';
import { planSentence } from './fetch-methods.ts';

it.each([
  ['plan.not-allowed:browser', 'The policy for shop.test does not allow engine `browser`.'],
  ['plan.not-allowed:auto', 'The policy for shop.test allows no engine that is installed here.'],
  ['plan.no-proxy-tier:mobile', 'There is no proxy of the tier `mobile` here (SCRAPIFIE_PROXY_FILE).'],
  [
    'plan.consent-required:stealth,identity',
    'The policy for shop.test does not consent to `stealth`, `identity`.',
  ],
  ['plan.cannot:pdf', 'No engine that the policy for shop.test allows can do this: `pdf`.'],
  [
    'plan.nothing-left:blocked; consent-required:stealth',
    "No other way is left (blocked). The operator's consent to `stealth` for shop.test would open another way.",
  ],
  ['plan.retry:CONNECTION_RESET', 'The attempt before ended with CONNECTION_RESET, which may pass.'],
  ['cache.hit', 'A page that is stored already answers it, as `maxAge` allows; no request was sent.'],
  ['something.new:x', 'The reason is something.new:x.'],
])('%s: %s', (reason, sentence) => {
  expect(planSentence(reason, 'shop.test')).toBe(sentence);
});
