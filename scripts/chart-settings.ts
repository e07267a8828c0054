import { settingsSecretsOf } from '../src/core/config/secrets.ts';
import { environmentName, type Settings, settingNames, settingsSchema } from '../src/core/config/settings.ts';

/** Settings that the Helm chart sets itself, by other values, or that only the command line has a use for. */
const NOT_OF_VALUES: ReadonlySet<keyof Settings> = new Set([
  'role',
  'host',
  'port',
  'dataDir',
  'drainMs',
  'drainNoticeMs',
  'firecrawlPort',
  'policyFile',
  'proxyFile',
  'apiUrl',
]);
const LINES = /(?: *"SCRAPIFIE_\w+": \{ "\$ref": "#\/definitions\/setting" \},?\n)+/;

/** The variables that `settings` of the chart takes, in the order of the schema: no secrets, which belong into the Secret. */
export function chartSettings(): readonly string[] {
  return settingNames.filter((name) => !NOT_OF_VALUES.has(name) && !isSecret(name)).map(environmentName);
}

/** `values.schema.json` of the chart with these variables in it. */
export function withChartSettings(schema: string): string {
  const lines = chartSettings().map(
    (variable) => `        "${variable}": { "$ref": "#/definitions/setting" }`,
  );
  return schema.replace(LINES, () => `${lines.join(',\n')}\n`);
}

/** Whether a plain value of the setting must never be written anywhere. URLs are secret only with a password in them. */
function isSecret(name: keyof Settings): boolean {
  const probe = 'a'.repeat(64);
  const settings = { ...settingsSchema.parse({}), [name]: probe } as Settings;
  return name === 'proxies' || name === 'otelHeaders' || settingsSecretsOf(settings).includes(probe);
}
