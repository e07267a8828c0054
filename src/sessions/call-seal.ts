import { isScrapifieError } from '../errors/scrapifie-error.ts';
import type { CallSeal } from '../fetch/remote/sealed-calls.ts';
import type { AccountId } from '../model/ids.ts';
import { createVault, type VaultPlace } from './vault.ts';

/** Calls are of all accounts. */
const PLACE: VaultPlace = { kind: 'call', accountId: '' as AccountId, name: 'render' };

/** Seals what render workers are asked, by the key of the settings; null where there is none. */
export function createCallSeal(vaultKey: string | undefined, oldKeys = ''): CallSeal | null {
  const vault = createVault(vaultKey, oldKeys);
  if (vault === null) return null;
  return {
    seal: (plain) => vault.seal(plain, PLACE),
    open(sealed) {
      try {
        return vault.open(sealed, PLACE);
      } catch (error) {
        if (isScrapifieError(error)) return null;
        throw error;
      }
    },
  };
}
