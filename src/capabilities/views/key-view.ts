import { z } from 'zod';
import type { ApiKey } from '../../core/ports/api-key.ts';
import { SCOPES } from '../accounts/scopes.ts';
import { selfLinks, selfSchema } from './list.ts';

const time = z.iso.datetime();

const keyFields = {
  id: z.string(),
  name: z.string(),
  prefix: z.string().describe('First characters of the secret, for recognising it.'),
  scopes: z.array(z.enum(SCOPES)),
  ratePerMinute: z.number().int().nullable().describe('null: the server’s default.'),
  createdAt: time,
  expiresAt: time.nullable(),
  revokedAt: time.nullable(),
  lastUsedAt: time.nullable(),
  links: selfSchema,
};
export const keySchema = z.object(keyFields).meta({ id: 'Key' });
export const newKeySchema = z
  .object({ ...keyFields, secret: z.string().describe('Shown this one time.') })
  .meta({ id: 'NewKey' });

const iso = (at: number | null) => (at === null ? null : new Date(at).toISOString());

export function keyView(key: ApiKey) {
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    scopes: key.scopes,
    ratePerMinute: key.ratePerMinute,
    createdAt: iso(key.createdAt),
    expiresAt: iso(key.expiresAt),
    revokedAt: iso(key.revokedAt),
    lastUsedAt: iso(key.lastUsedAt),
    links: selfLinks('keys', key.id),
  };
}
