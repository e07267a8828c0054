import { SAMPLE_PATH } from '../api/routes/sample.ts';
import type { Settings } from '../config/settings.ts';

/** Which key to show: one just made, or where the one in use came from. */
export type ShownKey =
  | { readonly kind: 'new'; readonly secret: string }
  | { readonly kind: 'earlier' | 'settings' };

export interface Welcome {
  readonly origin: string;
  readonly settings: Pick<Settings, 'dataDir'>;
  readonly version: string;
  readonly key: ShownKey;
}

/** What the server says when it is ready. The command in it works as printed. */
export function welcome({ origin, settings, version, key }: Welcome): string {
  const rows = [
    `Scrapifie ${version} is ready.`,
    '',
    `  API      ${origin}`,
    `  Docs     ${origin}/docs`,
    `  Data     ${settings.dataDir}`,
    `  API key  ${keyLine(key)}`,
    '',
    'Try it:',
    '',
    `  ${curlLine(origin, key)}`,
    '',
  ];
  return `${rows.join('\n')}\n`;
}

function keyLine(key: ShownKey): string {
  if (key.kind === 'new') return `${key.secret}  (shown this once; only its hash is kept)`;
  if (key.kind === 'settings') return 'the one in SCRAPIFIE_API_KEY';
  return 'made by an earlier start; `scrapifie keys create NAME` makes another';
}

function curlLine(origin: string, key: ShownKey): string {
  const secret = key.kind === 'new' ? key.secret : '$SCRAPIFIE_API_KEY';
  const body = JSON.stringify({ url: `${origin}${SAMPLE_PATH}` });
  return `curl -s ${origin}/v1/scrape -H "Authorization: Bearer ${secret}" -H 'Content-Type: application/json' -d '${body}'`;
}
