/**
 * What only a challenge or block page has. Names of vendors and their everyday scripts are not here: ordinary pages
 * have those too. A sign counts when its status fits and every part of it is there.
 */
export interface VendorSign {
  readonly vendor: string;
  readonly outcome: 'blocked' | 'captcha';
  /** `any` status, an `error` (400 and above), or one of these. */
  readonly status: 'any' | 'error' | readonly number[];
  /** Name in lower case, and what its value must match. */
  readonly header?: readonly [name: string, value: RegExp];
  /** Each must be in the markup, letter for letter. Looked for only in pages with hardly any content of their own. */
  readonly markup?: readonly string[];
}

export const VENDOR_SIGNS: readonly VendorSign[] = [
  { vendor: 'cloudflare', outcome: 'blocked', status: 'any', header: ['cf-mitigated', /^challenge/i] },
  { vendor: 'cloudflare', outcome: 'blocked', status: 'any', markup: ['window._cf_chl_opt'] },
  { vendor: 'cloudflare', outcome: 'blocked', status: [403], markup: ['cf-error-details'] },
  { vendor: 'cloudflare', outcome: 'blocked', status: [403], markup: ['error code: 1020'] },

  { vendor: 'akamai', outcome: 'blocked', status: [403], header: ['server', /^AkamaiGHost/i] },
  { vendor: 'akamai', outcome: 'blocked', status: [403], markup: ['errors.edgesuite.net'] },
  { vendor: 'akamai', outcome: 'captcha', status: 'any', markup: ['sec-if-cpt-container'] },

  { vendor: 'datadome', outcome: 'captcha', status: 'any', markup: ['captcha-delivery.com', 'var dd='] },
  { vendor: 'datadome', outcome: 'blocked', status: [401, 403], header: ['x-datadome', /./] },
  { vendor: 'datadome', outcome: 'blocked', status: [401, 403], header: ['x-dd-b', /./] },

  { vendor: 'perimeterx', outcome: 'captcha', status: 'any', markup: ['px-captcha', '_pxAppId'] },

  { vendor: 'imperva', outcome: 'blocked', status: 'any', markup: ['_Incapsula_Resource?', 'main-iframe'] },
  { vendor: 'imperva', outcome: 'blocked', status: 'any', markup: ['Incapsula incident ID'] },

  { vendor: 'aws-waf', outcome: 'captcha', status: 'any', header: ['x-amzn-waf-action', /^captcha/i] },
  { vendor: 'aws-waf', outcome: 'blocked', status: 'any', header: ['x-amzn-waf-action', /^challenge/i] },
  { vendor: 'aws-waf', outcome: 'blocked', status: 'any', markup: ['gokuProps', 'AwsWafIntegration'] },

  { vendor: 'kasada', outcome: 'blocked', status: [403, 429], header: ['x-kpsdk-ct', /./] },
  { vendor: 'kasada', outcome: 'blocked', status: [403, 429], markup: ['KPSDK', 'ips.js'] },

  {
    vendor: 'vercel',
    outcome: 'blocked',
    status: 'any',
    header: ['x-vercel-mitigated', /^(challenge|deny)/i],
  },

  { vendor: 'sucuri', outcome: 'blocked', status: 'error', markup: ['Sucuri WebSite Firewall'] },
  { vendor: 'sucuri', outcome: 'blocked', status: 'any', markup: ['sucuri_cloudproxy_js'] },

  {
    vendor: 'ddos-guard',
    outcome: 'blocked',
    status: 'any',
    markup: ['/.well-known/ddos-guard/js-challenge'],
  },
  { vendor: 'ddos-guard', outcome: 'blocked', status: [403], header: ['server', /^ddos-guard/i] },

  { vendor: 'radware', outcome: 'captcha', status: 'any', markup: ['captcha.perfdrive.com'] },
  {
    vendor: 'f5',
    outcome: 'blocked',
    status: 'any',
    markup: ['The requested URL was rejected. Please consult with your administrator.'],
  },
  { vendor: 'anubis', outcome: 'blocked', status: 'any', markup: ['id="anubis_challenge"'] },
  { vendor: 'google', outcome: 'captcha', status: 'error', markup: ['/sorry/', 'unusual traffic'] },

  // Widgets that many forms carry: a sign only where the page is an error with nothing else on it.
  { vendor: 'recaptcha', outcome: 'captcha', status: 'error', markup: ['g-recaptcha'] },
  { vendor: 'hcaptcha', outcome: 'captcha', status: 'error', markup: ['h-captcha'] },
  { vendor: 'turnstile', outcome: 'captcha', status: 'error', markup: ['cf-turnstile'] },
];
