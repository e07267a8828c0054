import { type Settings, settingsSchema } from './settings.ts';

/** Values of the settings that must never be written anywhere, in each form in which they could turn up. */
export function settingsSecretsOf(settings: Settings): readonly string[] {
  const { databaseUrl, redisUrl, s3Url, backupS3Url, remoteBrowserUrl, flaresolverrUrl } = settings;
  const { captchaUrl, antiCaptchaUrl, credentialServiceUrl, llmUrl, smtpUrl, searxngUrl } = settings;
  const { apiKey, captchaKey, antiCaptchaKey, vaultKey, credentialServiceToken, llmKey } = settings;
  const { firecrawlWebhookSecret, firecrawlKey } = settings;
  const servers = [databaseUrl, redisUrl, s3Url, backupS3Url, remoteBrowserUrl, flaresolverrUrl];
  const urls = [...servers, captchaUrl, antiCaptchaUrl, credentialServiceUrl, llmUrl, smtpUrl, searxngUrl];
  const inUrls = urls.flatMap((url) => {
    const password = URL.parse(url ?? '')?.password ?? '';
    return [password, decoded(password)];
  });
  const keys = [
    apiKey,
    captchaKey,
    antiCaptchaKey,
    vaultKey,
    credentialServiceToken,
    llmKey,
    firecrawlWebhookSecret,
    firecrawlKey,
  ].map((key) => key ?? '');
  const oldKeys = settings.vaultOldKeys.split(',').map((key) => key.trim());
  const inProxies = settings.proxies.split(',').flatMap((text) => {
    const password = URL.parse(text.trim().replace(/^[^:]+:/, 'http:'))?.password ?? '';
    return [password, decoded(password)];
  });
  return [...new Set([...keys, ...oldKeys, ...inUrls, ...inProxies])].filter((secret) => secret !== '');
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
  if (name === 'proxies') return value === '' ? '' : '[secret]';
  const url = value.includes('://') ? URL.parse(value) : null;
  if (url !== null) return `${url.protocol}//${url.host}`;
  return secrets.reduce((text, secret) => text.replaceAll(secret, '[secret]'), value);
}
