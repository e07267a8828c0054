import { realpathSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Settings } from './settings.ts';

/** Where container engines and Kubernetes put secrets and tokens, and where the unit of systemd has its settings. */
const USUAL_PLACES = ['/run/secrets', '/var/run/secrets', '/etc/scrapifie'];

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
