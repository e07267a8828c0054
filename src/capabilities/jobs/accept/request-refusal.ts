import { isPluginPart } from '../../../core/config/plugin-part.ts';
import type { Settings } from '../../../core/config/settings.ts';
import { ScrapifieError } from '../../../core/errors/scrapifie-error.ts';
import { isDisguised, isRendering } from '../../../core/model/engine-traits.ts';
import type { PageOptions } from '../../../core/model/job.ts';
import { PROXY_TIERS, type ProxyTier } from '../../../core/model/proxy.ts';
import { type Ability, type EngineOffer, neededAbilities } from '../../../crawl/plan/ladder/fetch-methods.ts';

/** What the plug-ins of this installation offer, by name. */
export interface PluginOffers {
  readonly engines: { has(name: PageOptions['engine']): boolean };
  readonly types: object;
}

/** What the proxies of this installation are, whether they work at the moment or not. */
export interface InstalledProxies {
  has(tier: ProxyTier | null, country: string | null): boolean;
}

/** Why this installation cannot do what a request asks for, as far as that is known before a page is fetched. */
export function requestRefusal(
  settings: Settings,
  plugins: PluginOffers,
  offers: InstalledEngines,
  /** Why the browser of this machine is not used. */
  unused: () => ScrapifieError | null,
  proxies: () => InstalledProxies | null,
): (page: PageOptions) => ScrapifieError | null {
  // The available renderers and proxies are only known where this process fetches and renders all pages.
  const isKnown = settings.role === 'all' && settings.replay === undefined;
  const byEngines = createEngineRefusal(() => (isKnown ? offers() : null));
  const engineRefusal = (page: PageOptions): ScrapifieError | null => {
    const refusal = byEngines(page);
    if (refusal?.code !== 'NO_BROWSER') return refusal;
    const { code, message } = unused() ?? refusal;
    return new ScrapifieError(code, message, { details: refusal.details ?? [] });
  };
  return (page) =>
    pluginRefusal(page, plugins) ??
    engineRefusal(page) ??
    (isKnown ? proxyRefusal(page, proxies()) : null) ??
    llmRefusal(page, settings);
}

/** Says at once that no proxy of this installation is of the tier, or in the country, that a page asks for. */
export function proxyRefusal(
  { proxy, maxProxyTier }: Pick<PageOptions, 'proxy' | 'maxProxyTier'>,
  installed: InstalledProxies | null,
): ScrapifieError | null {
  // A proxy of the caller's own is taken as it is.
  if (proxy === null || proxy.url !== null) return null;
  const { tier, country } = proxy;
  const named = tier === null ? PROXY_TIERS : [tier];
  const allowed = maxProxyTier === undefined ? named : named.filter((one) => isUpTo(one, maxProxyTier));
  const hasOf = (tiers: readonly ProxyTier[], where: string | null) =>
    installed !== null && tiers.some((one) => installed.has(one, where));
  if (hasOf(allowed, country)) return null;
  const refuse = (field: string, message: string) =>
    new ScrapifieError('UNSUPPORTED_OPTION', message, { details: [{ field, message }] });
  const asked = tier === null ? 'proxy.country' : 'proxy.tier';
  if (!hasOf(PROXY_TIERS, null)) return refuse(asked, 'No proxies are set up here (SCRAPIFIE_PROXY_FILE).');
  if (!hasOf(named, null)) return refuse('proxy.tier', `No ${tier} proxy is set up here.`);
  if (!hasOf(allowed, null)) {
    return refuse('proxy.maxTier', `No proxy up to the tier ${maxProxyTier} is set up here.`);
  }
  const which = tier === null ? 'No proxy' : `No ${tier} proxy`;
  return refuse('proxy.country', `${which} of this installation that may be used is in ${country}.`);
}

const isUpTo = (tier: ProxyTier, most: ProxyTier): boolean =>
  PROXY_TIERS.indexOf(tier) <= PROXY_TIERS.indexOf(most);

/** Says at once that no plug-in has what the request names. */
function pluginRefusal(
  { engine, extract }: Pick<PageOptions, 'engine' | 'extract'>,
  { engines, types }: PluginOffers,
): ScrapifieError | null {
  const refuse = (field: string, what: string) => {
    const message = `No plug-in of this installation has the ${what} (SCRAPIFIE_PLUGINS).`;
    return new ScrapifieError('UNSUPPORTED_OPTION', message, { details: [{ field, message }] });
  };
  if (isPluginPart(engine) && !engines.has(engine)) return refuse('engine', `engine ${engine}`);
  const type = extract?.type ?? null;
  if (type === null || !isPluginPart(type) || Object.hasOwn(types, type)) return null;
  return refuse('extract.type', `type ${type}`);
}

/** Says at once what cannot be done without a language model. */
export function llmRefusal(
  { extract }: Pick<PageOptions, 'extract'>,
  { llmUrl, replay }: Partial<Pick<Settings, 'llmUrl' | 'replay'>>,
): ScrapifieError | null {
  if ((extract?.llm ?? false) === false || (llmUrl !== undefined && replay === undefined)) return null;
  const message =
    replay === undefined
      ? 'No language model is set up here (SCRAPIFIE_LLM_URL).'
      : 'A replay asks no language model.';
  return new ScrapifieError('UNSUPPORTED_OPTION', message, { details: [{ field: 'extract.llm', message }] });
}

/** What there is to fetch with; null where workers that are not known here may come and go. */
export type InstalledEngines = () => readonly Pick<EngineOffer, 'name' | 'abilities'>[] | null;

type Installed = NonNullable<ReturnType<InstalledEngines>>;

const FIELD_OF: Readonly<Record<Ability, string>> = {
  javascript: 'wait',
  screenshots: 'screenshot',
  actions: 'actions',
  pdf: 'formats',
  xhr: 'formats',
  impersonation: 'identity',
  captcha: 'engine',
  proxies: 'proxy',
  waits: 'wait',
  messages: 'headers',
  devices: 'viewport',
};
const DOING: Readonly<Record<Ability, string>> = {
  javascript: 'run scripts',
  screenshots: 'take pictures',
  actions: 'act on pages',
  pdf: 'make PDFs',
  xhr: 'record what scripts ask for',
  impersonation: 'have the identity of a browser',
  captcha: 'solve puzzles',
  proxies: 'go through proxies',
  waits: 'wait for something on the page',
  messages: 'send headers and bodies of yours',
  devices: 'show pages on a screen or in a place of your choice',
};

/** Says at once what would otherwise only be found out when the page's turn comes. */
export function createEngineRefusal(
  installed: InstalledEngines,
): (page: PageOptions) => ScrapifieError | null {
  return (page) => {
    const engines = installed();
    return engines === null ? null : refusalFor(page, engines);
  };
}

function refusalFor(page: PageOptions, engines: Installed): ScrapifieError | null {
  const { engine } = page;
  const named = engines.filter(({ name }) => engine === 'auto' || name === engine);
  if (named.length === 0) return missing(page, engines);
  const needs = needsOf(page);
  if (named.some((each) => needs.every((need) => can(each, need)))) return null;
  const lacking = needs.filter((need) => !named.some((each) => can(each, need)));
  const needsBrowser = lacking.some(
    (need) => need !== 'impersonation' && need !== 'proxies' && need !== 'messages',
  );
  if (engine === 'auto' && needsBrowser && !hasBrowser(engines)) return noBrowser(lacking);
  const cannot = lacking.length === 0 ? needs : lacking;
  const who = engine === 'auto' ? 'No engine of this installation can' : `The engine ${engine} cannot`;
  return new ScrapifieError(
    'UNSUPPORTED_OPTION',
    `${who} ${cannot.map((need) => DOING[need]).join(' and ')}.`,
    {
      details: cannot.map((need) => ({ field: FIELD_OF[need], message: `${who} ${DOING[need]}.` })),
    },
  );
}

/** These are disguised whatever they are asked. */
const can = ({ name, abilities }: Installed[number], need: Ability): boolean =>
  abilities.includes(need) || (need === 'impersonation' && isDisguised(name));

function needsOf({ render, formats, headers, method, proxy, identity }: PageOptions): Ability[] {
  const needs = neededAbilities({ ...render, formats, headers, method });
  if (proxy !== null) needs.push('proxies');
  if (identity === 'browser') needs.push('impersonation');
  return needs;
}

const hasBrowser = (engines: Installed): boolean => engines.some(({ name }) => isRendering(name));

function missing({ engine }: PageOptions, engines: Installed): ScrapifieError {
  if (engine === 'flaresolverr')
    return unsupported('No FlareSolverr is set up here (SCRAPIFIE_FLARESOLVERR_URL).');
  if (engine === 'firecrawl')
    return unsupported('No Firecrawl-compatible API is set up here (SCRAPIFIE_FIRECRAWL_URL).');
  if (engine === 'replay') return unsupported('No archive is replayed here (SCRAPIFIE_REPLAY).');
  // When another engine with a browser can be used, a browser is installed, so it is not the browser that is missing.
  return hasBrowser(engines)
    ? unsupported(`The engine ${engine} is not set up here.`)
    : noBrowser(['javascript'], 'engine');
}

const unsupported = (message: string) =>
  new ScrapifieError('UNSUPPORTED_OPTION', message, { details: [{ field: 'engine', message }] });

function noBrowser(lacking: readonly Ability[], field?: string): ScrapifieError {
  const message = 'This installation has no browser.';
  return new ScrapifieError('NO_BROWSER', `${message} \`scrapifie doctor\` says how to get one.`, {
    details: lacking.map((need) => ({ field: field ?? FIELD_OF[need], message })),
  });
}
