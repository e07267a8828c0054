import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import { readPairs } from './field-types.ts';
import { type Settings, settingsSchema } from './settings.ts';

/** Settings that are secrets as a whole. */
const KEYS = [
  'apiKey',
  'metricsKey',
  'captchaKey',
  'antiCaptchaKey',
  'vaultKey',
  'credentialServiceToken',
  'llmKey',
  'firecrawlWebhookSecret',
  'firecrawlKey',
] as const satisfies (keyof Settings)[];

/** A shorter value of a header, such as the number of a tenant, is no secret, and stands in many other texts. */
const SECRET_CHARS = 8;

/** Where container engines and Kubernetes put secrets and tokens, and where the unit of systemd has its settings. */
const USUAL_PLACES = ['/run/secrets', '/var/run/secrets', '/etc/scrapifie'];

/** Values of the settings that must never be written anywhere, in each form in which they could turn up. */
export function settingsSecretsOf(settings: Settings): readonly string[] {
  const keys = KEYS.map((name) => settings[name] ?? '');
  const oldKeys = settings.vaultOldKeys.split(',').map((key) => key.trim());
  // Any setting may be a URL, or a list of them, with a password in it.
  const passwords = Object.values(settings).flatMap((value) =>
    typeof value === 'string' && value.includes('://')
      ? [value, ...value.split(',')].flatMap(passwordsIn)
      : [],
  );
  const headers = [...(readPairs(settings.otelHeaders)?.values() ?? [])].filter(
    ({ length }) => length >= SECRET_CHARS,
  );
  return [...new Set([...keys, ...oldKeys, ...passwords, ...headers])].filter((secret) => secret !== '');
}

/** The password of a URL of any scheme, as it is written and as it is meant. */
function passwordsIn(text: string): readonly string[] {
  const url = text.trim();
  // A URL with several hosts is none for the parser.
  const beforeHosts = /^[^:]+:\/\/[^:@/?#]*:([^@/?#]*)@/.exec(url)?.[1] ?? '';
  const password = URL.parse(url.replace(/^[^:]+:/, 'http:'))?.password ?? beforeHosts;
  return [password, decoded(password)];
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/**
 * The settings that are not at their default, as they may be shown: secrets in them are replaced. Of URLs only scheme and
 * host are shown, because services put tokens into paths and queries.
 */
export function shownSettings(settings: Settings): Readonly<Record<string, unknown>> {
  const defaults: Readonly<Record<string, unknown>> = settingsSchema.parse({});
  const secrets = settingsSecretsOf(settings);
  return Object.fromEntries(
    Object.entries(settings)
      .filter(([name, value]) => value !== undefined && value !== defaults[name])
      .map(([name, value]) => [name, shownSetting(name, value, secrets)]),
  );
}

/** One setting as it may be shown. `secrets` are those of all settings. */
export function shownSetting(name: string, value: unknown, secrets: readonly string[]): unknown {
  if (typeof value !== 'string') return value;
  if (name === 'proxies' || name === 'otelHeaders') return value === '' ? '' : '[secret]';
  if (name === 'redisUrl') return value.replace(/^([^:]*:\/\/)(?:[^@/?#]*@)?([^/?#]*).*$/s, '$1$2');
  const url = value.includes('://') ? URL.parse(value) : null;
  if (url !== null) return `${url.protocol}//${url.host}`;
  return secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), value);
}

/**
 * Files and folders that may hold secrets of this installation, as far as they are there, by their real paths: the data
 * folder with the vault's key, files that settings name, `.env`, and the usual places of secrets.
 */
export function secretPlaces(
  settings: Pick<Settings, 'dataDir' | 'vaultKeyPath' | 'proxyFile'>,
): readonly string[] {
  const named = Object.entries(process.env).flatMap(([name, value]) =>
    /^SCRAPIFIE_\w+_FILE$/.test(name) && value !== undefined && value.trim() !== '' ? [value.trim()] : [],
  );
  const { dataDir, vaultKeyPath, proxyFile } = settings;
  const places = [dataDir, vaultKeyPath, proxyFile, '.env', ...named, ...USUAL_PLACES];
  const real = places.flatMap((place) => {
    try {
      return place === undefined ? [] : [realpathSync(resolve(place))];
    } catch {
      return [];
    }
  });
  return [...new Set(real)];
}
