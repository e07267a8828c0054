import { describe, expect, it } from 'vitest';
import { settingsSecretsOf } from './secrets.ts';
import { type Settings, settingNames, settingsSchema } from './settings.ts';

const PASSWORD = 'hush%2Fhush';
const SCHEMES = ['https', 'http', 'postgres', 'redis', 'smtp', 'ws'];
const DEFAULTS: Settings = settingsSchema.parse({});

describe('secrets of the settings', () => {
  const withUrl = settingNames.flatMap((name) =>
    SCHEMES.map((scheme) => `${scheme}://user:${PASSWORD}@host/place`)
      .filter((url) => settingsSchema.shape[name].safeParse(url).success)
      .slice(0, 1)
      .map((url) => [name, url] as const),
  );

  it.each(withUrl)('are the password in %s, as it is written and as it is meant', (name, url) => {
    const secrets = settingsSecretsOf({ ...DEFAULTS, [name]: url });
    expect(secrets).toEqual(expect.arrayContaining([PASSWORD, 'hush/hush']));
  });

  it('are those of the object stores too', () => {
    const names = withUrl.map(([name]) => name);
    expect(names).toEqual(expect.arrayContaining(['s3Url', 'backupS3Url', 'exportS3Url', 'proxies']));
  });
});
