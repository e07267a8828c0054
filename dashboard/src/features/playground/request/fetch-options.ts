import { choices, type OptionField } from './option-field-types.ts';

/** Options of how a page is fetched. */

const TIERS = choices(
  ['', 'As needed'],
  ['datacenter', 'Datacenter'],
  ['residential', 'Residential'],
  ['mobile', 'Mobile'],
);

export const FETCH_MAIN = [
  {
    path: 'engine',
    label: 'Engine',
    kind: 'choice',
    hint: 'Automatic takes the cheapest that works; the tab “Why” gives the reason.',
    choices: choices(
      ['', 'Automatic'],
      ['http', 'HTTP, without scripts'],
      ['browser', 'Browser'],
      ['stealth', 'Stealth browser (needs consent)'],
      ['flaresolverr', 'FlareSolverr (needs consent)'],
      ['firecrawl', 'Firecrawl-compatible API (needs consent)'],
      ['replay', 'Archive of the operator'],
    ),
  },
  { path: 'wait.selector', label: 'Wait for an element', kind: 'text', placeholder: '#results' },
  {
    path: 'wait.until',
    label: 'Wait until',
    kind: 'choice',
    choices: choices(
      ['', 'Loaded'],
      ['domcontentloaded', 'Document read'],
      ['networkidle', 'Network is quiet'],
    ),
    isHalf: true,
  },
  { path: 'wait.ms', label: 'And then, ms', kind: 'number', placeholder: '500', isHalf: true },
  {
    path: 'scroll',
    label: 'Scroll',
    kind: 'choice',
    choices: choices(['', 'As usual'], ['true', 'Until the page grows no more'], ['false', 'Never']),
  },
  { path: 'actions', label: 'Actions on the page', kind: 'actions' },
] as const satisfies readonly OptionField[];

export const FETCH_ADVANCED = [
  {
    path: 'headers',
    label: 'Request headers',
    kind: 'pairs',
    hint: 'Name: value, one per line.',
    placeholder: 'Accept-Language: de',
  },
  {
    path: 'crossOriginHeaders',
    label: 'Headers for other origins too',
    kind: 'lines',
    hint: 'Names of the headers above, one per line.',
  },
  {
    path: 'cookies',
    label: 'Cookies',
    kind: 'pairs',
    hint: 'Name: value, one per line. Sent to the origin of the URL alone.',
  },
  {
    path: 'session',
    label: 'Session',
    kind: 'text',
    hint: 'Keeps cookies, storage, proxy and identity; the first use makes it.',
    placeholder: 'my-shop',
  },
  { path: 'proxy.tier', label: 'Proxy', kind: 'choice', choices: TIERS, isHalf: true },
  { path: 'proxy.country', label: 'Country', kind: 'text', placeholder: 'de', isHalf: true },
  { path: 'proxy.maxTier', label: 'Dearest proxy', kind: 'choice', choices: TIERS, isHalf: true },
  {
    path: 'proxy.url',
    label: 'Own proxy',
    kind: 'text',
    placeholder: 'http://user:password@host:port',
    isHalf: true,
  },
  {
    path: 'identity',
    label: 'Identity',
    kind: 'choice',
    choices: choices(
      ['', 'As the policy says'],
      ['bot', 'Scrapifie'],
      ['browser', 'Browser (needs consent)'],
    ),
    isHalf: true,
  },
  {
    path: 'identityBrowser',
    label: 'Which browser',
    kind: 'choice',
    choices: choices(['', 'Chrome'], ['firefox', 'Firefox'], ['safari', 'Safari']),
    isHalf: true,
  },
  { path: 'method', label: 'Method', kind: 'choice', choices: choices(['', 'GET'], ['POST', 'POST']) },
  { path: 'body', label: 'Request body', kind: 'long', hint: 'Needs the method POST.' },
  {
    path: 'blockResources',
    label: 'Do not load',
    kind: 'checks',
    choices: choices(['images', 'Images'], ['fonts', 'Fonts'], ['media', 'Media'], ['trackers', 'Trackers']),
  },
  { path: 'mobile', label: 'As on a phone', kind: 'on' },
  { path: 'viewport.width', label: 'Window width', kind: 'number', placeholder: '1280', isHalf: true },
  { path: 'viewport.height', label: 'Window height', kind: 'number', placeholder: '800', isHalf: true },
  { path: 'locale', label: 'Language', kind: 'text', placeholder: 'de-DE', isHalf: true },
  { path: 'timezone', label: 'Time zone', kind: 'text', placeholder: 'Europe/Berlin', isHalf: true },
  { path: 'geolocation.latitude', label: 'Latitude', kind: 'number', placeholder: '52.52', isHalf: true },
  { path: 'geolocation.longitude', label: 'Longitude', kind: 'number', placeholder: '13.405', isHalf: true },
  { path: 'geolocation.accuracy', label: 'Accuracy, metres', kind: 'number', placeholder: '10' },
  {
    path: 'obeyRobots',
    label: 'Obey robots.txt',
    kind: 'off',
    hint: 'Off needs the consent of the operator.',
  },
] as const satisfies readonly OptionField[];
