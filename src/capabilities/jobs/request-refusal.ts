import { isPluginPart } from '../../core/config/plugin-part.ts';
import type { Settings } from '../../core/config/settings.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { PageOptions } from '../../core/model/job.ts';
import { createEngineRefusal, type InstalledEngines } from './engine-refusal.ts';

/** What the plug-ins of this installation offer, by name. */
export interface PluginOffers {
  readonly engines: { has(name: PageOptions['engine']): boolean };
  readonly types: object;
}

/** Why this installation cannot do what a request asks for, as far as that is known before a page is fetched. */
export function requestRefusal(
  settings: Settings,
  plugins: PluginOffers,
  offers: InstalledEngines,
  /** Why the browser of this machine is not used. */
  unused: () => ScrapifieError | null,
): (page: PageOptions) => ScrapifieError | null {
  // The available renderers are only known where this process renders all pages.
  const isKnown = settings.role === 'all' && settings.replay === undefined;
  const byEngines = createEngineRefusal(() => (isKnown ? offers() : null));
  const engineRefusal = (page: PageOptions): ScrapifieError | null => {
    const refusal = byEngines(page);
    if (refusal?.code !== 'NO_BROWSER') return refusal;
    const { code, message } = unused() ?? refusal;
    return new ScrapifieError(code, message, { details: refusal.details ?? [] });
  };
  return (page) => pluginRefusal(page, plugins) ?? engineRefusal(page) ?? llmRefusal(page, settings);
}

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
