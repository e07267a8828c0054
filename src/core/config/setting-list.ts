import { settingsSecretsOf, shownSetting } from './secrets.ts';
import { isFromAnyFolder } from './setting-sources.ts';
import { environmentName, type Settings, settingNames, settingsSchema } from './settings.ts';

export interface DocumentedSetting {
  readonly variable: string;
  /** As it is written in a `.env` file; null when the setting is unset by default. */
  readonly defaultValue: string | null;
  readonly description: string;
  /** Whether the setting counts from the `.env` of a folder that is not trusted. */
  readonly isFromAnyFolder: boolean;
}

export function documentedSettings(): readonly DocumentedSetting[] {
  const defaults: Record<string, unknown> = settingsSchema.parse({});
  return settingNames.map((name) => ({
    variable: environmentName(name),
    defaultValue: defaults[name] === undefined ? null : String(defaults[name]),
    description: settingsSchema.shape[name].description ?? '',
    isFromAnyFolder: isFromAnyFolder(name),
  }));
}

/** Every setting with its default and what it does, as a `.env` file that changes nothing. */
export function envExample(): string {
  const entries = documentedSettings().map(
    ({ variable, defaultValue, description }) => `# ${description}\n#${variable}=${defaultValue ?? ''}\n`,
  );
  const head = [
    '# Every setting with its default. Copy to .env and take the # away from what you change.',
    '# The environment wins over .env. A secret may stand in a file: SCRAPIFIE_API_KEY_FILE=/run/secrets/key',
  ];
  return `${head.join('\n')}\n\n${entries.join('\n')}`;
}

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
