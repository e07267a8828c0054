import type { Settings } from '../config/settings.ts';
import type { LoadedPlugins } from '../plugins/load-plugins.ts';

const NONE: LoadedPlugins = { types: {}, deliverers: new Map() };

/** The plug-ins of the settings. Without any, nothing of them is loaded. Throws INVALID_SETTINGS. */
export async function openPlugins({ plugins }: Pick<Settings, 'plugins'>): Promise<LoadedPlugins> {
  if (plugins === '') return NONE;
  return (await import('../plugins/load-plugins.ts')).loadPlugins(plugins);
}
