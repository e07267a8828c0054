import type { PluginPart } from '../core/config/plugin-part.ts';
import type { EngineOffer } from '../crawl/plan/ladder/possible-methods.ts';
import type { Engine } from '../fetch/engine.ts';
import {
  createPluginEngine,
  type EnginePlugin,
  type PluginEngineOptions,
} from '../fetch/plugin/plugin-engine.ts';
import { withholdSecrets } from '../fetch/withheld-secrets.ts';

/** Engines of plug-ins by their full names. */
export type PluginEngines = ReadonlyMap<PluginPart, EnginePlugin>;

export interface OpenPluginEngines {
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
