import { z } from 'zod';
import { readAddressList } from './address-list.ts';

export const bool = z.union(
  [z.boolean(), z.stringbool({ truthy: ['true', '1', 'yes', 'on'], falsy: ['false', '0', 'no', 'off'] })],
  { error: 'must be true or false' },
);
export const addresses = z
  .string()
  .refine(
    (text) => readAddressList(text) !== null,
    'must be IP addresses or CIDR ranges, separated by commas',
  );
export const whole = (min: number, max: number) => z.coerce.number().int().min(min).max(max);

/** A key as a header can carry it. */
export const keyText = z
  .string()
  .min(16)
  .regex(/^\P{Cc}*$/u, 'must have no line breaks or other control characters, which no header can carry');

/**
 * For `meta`: the setting counts from the `.env` of a folder that is not trusted. Only amounts and choices of words
 * whose worst value costs time: nothing that names code, a place or an address, opens a guard, spends or deletes.
 */
export const FROM_ANY_FOLDER = { fromAnyFolder: true } as const;
