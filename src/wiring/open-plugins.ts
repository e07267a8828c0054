import type { Settings } from '../config/settings.ts';
import type { LoadedPlugins } from '../plugins/load-plugins.ts';

/** The plug-ins of the settings; null without any, and then nothing of them is loaded. Throws INVALID_SETTINGS. */
export async function openPlugins({ plugins }: Pick<Settings, 'plugins'>): Promise<LoadedPlugins | null> {
  if (plugins === '') return null;
  return (await import('../plugins/load-plugins.ts')).loadPlugins(plugins);
}
