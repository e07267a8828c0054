import type { LoadedPlugins } from '../capabilities/plugins/load-plugins.ts';
import type { Settings } from '../core/config/settings.ts';
import { registerEngine } from '../core/model/engine-traits.ts';

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
