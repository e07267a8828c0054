import type { LoadedPlugins } from '../capabilities/plugins/load-plugins.ts';
import type { PluginPart } from '../core/config/plugin-part.ts';
import type { Settings } from '../core/config/settings.ts';
import { registerEngine } from '../core/model/engine-traits.ts';
import type { EngineOffer } from '../crawl/plan/ladder/fetch-methods.ts';
import type { Engine } from '../fetch/engine.ts';
import {
  createPluginEngine,
  type EnginePlugin,
  type PluginEngineOptions,
} from '../fetch/plugin/plugin-engine.ts';
import { withholdSecrets } from '../fetch/wrapped-engines.ts';

const NONE: LoadedPlugins = { types: {}, deliverers: new Map(), engines: new Map() };

/** The plug-ins of the settings. Without any, nothing of them is loaded. Throws INVALID_SETTINGS. */
export async function openPlugins({ plugins }: Pick<Settings, 'plugins'>): Promise<LoadedPlugins> {
  if (plugins === '') return NONE;
  const loaded = await (await import('../capabilities/plugins/load-plugins.ts')).loadPlugins(plugins);
  for (const [name, { cost, runsScripts, isDisguised }] of loaded.engines) {
    const consent = isDisguised ? 'stealth' : null;
    registerEngine(name, { cost, runsScripts, isRendering: false, isDisguised, consent });
  }
  return loaded;
}

/** Engines of plug-ins by their full names. */
export type PluginEngines = ReadonlyMap<PluginPart, EnginePlugin>;

interface OpenPluginEngines {
  readonly engines: ReadonlyMap<string, Engine>;
  readonly offers: readonly EngineOffer[];
  close(): Promise<void>;
}

/** The engines of plug-ins, each opened with its first page. */
export function openPluginEngines(plugins: PluginEngines, options: PluginEngineOptions): OpenPluginEngines {
  const engines = new Map<string, Engine>();
  const offers: EngineOffer[] = [];
  for (const [part, plugin] of plugins) {
    engines.set(part, withholdSecrets(createPluginEngine(part, plugin, options)));
    const { runsScripts, abilities = [] } = plugin;
    offers.push({
      name: part,
      abilities: [...abilities, ...(runsScripts ? (['javascript'] as const) : [])],
      isAnswering: true,
    });
  }
  return {
    engines,
    offers,
    async close() {
      await Promise.all([...engines.values()].map((engine) => engine.close()));
    },
  };
}
