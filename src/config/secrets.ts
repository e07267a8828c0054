import type { Settings } from './settings.ts';

/** Values of the settings that must never be written anywhere, in each form in which they could turn up. */
export function secretsOf(settings: Settings): readonly string[] {
  const { apiKey, databaseUrl, redisUrl, s3Url } = settings;
  const inUrls = [databaseUrl, redisUrl, s3Url].flatMap((url) => {
    const password = URL.parse(url ?? '')?.password ?? '';
    return [password, decoded(password)];
  });
  return [...new Set([apiKey ?? '', ...inUrls])].filter((secret) => secret !== '');
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
