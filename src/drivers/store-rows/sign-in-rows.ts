import type { AccountId, KeyId } from '../../core/model/ids.ts';
import type { SignIn } from '../../core/ports/key-store.ts';
import type { Row } from './rows.ts';

export function signInOfRow(row: Row): SignIn {
  return {
    hash: String(row.hash),
    accountId: String(row.account_id) as AccountId,
    keyId: String(row.key_id) as KeyId,
    keyHash: String(row.key_hash),
    createdAt: Number(row.created_at),
    usedAt: Number(row.used_at),
    expiresAt: Number(row.expires_at),
  };
}
