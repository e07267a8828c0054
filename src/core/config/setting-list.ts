import { settingsSecretsOf, shownSetting } from './secrets.ts';
import { environmentName, type Settings, settingNames, settingsSchema } from './settings.ts';

/** Where a setting was given. */
export type SettingSource = 'default' | 'command line' | 'code' | 'environment' | '.env';

export interface ListedSetting {
  readonly name: string;
  readonly variable: string;
  /** The value without secrets; null when the setting is not set. */
  readonly value: unknown;
  readonly default: unknown;
  readonly source: SettingSource;
  readonly description: string;
}

/** Every setting as it may be shown, with where it was given. */
export function listSettings(
  settings: Settings,
  sources: ReadonlyMap<string, SettingSource>,
): readonly ListedSetting[] {
  const defaults: Readonly<Record<string, unknown>> = settingsSchema.parse({});
  const secrets = settingsSecretsOf(settings);
  return settingNames.map((name) => ({
    name,
    variable: environmentName(name),
    value: shownSetting(name, settings[name], secrets) ?? null,
    default: defaults[name] ?? null,
    source: sources.get(name) ?? 'default',
    description: settingsSchema.shape[name].description ?? '',
  }));
}
