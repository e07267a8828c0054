import { z } from 'zod';
import { limitFields, PLAN_NAME } from '../../core/config/plans.ts';
import { ACCOUNT_ID } from './accounts.ts';

export const limitsSchema = z.strictObject(limitFields);
const nameField = z.string().trim().min(1).max(200);
const planField = z.string().regex(PLAN_NAME, 'is not the name of a plan');
export const newAccountSchema = z
  .strictObject({
    id: z
      .string()
      .regex(ACCOUNT_ID, 'must be 1 to 63 lower-case letters, digits, dashes and underscores')
      .optional()
      .describe('Left out: one is made.'),
    name: nameField,
    plan: planField.optional(),
    limits: limitsSchema.partial().optional().describe('Limits left out are none.'),
  })
  .meta({ examples: [{ id: 'tenant-1', name: 'Tenant 1', limits: { requestsPerMinute: 600 } }] });

export const accountChangeSchema = z
  .strictObject({
    name: nameField.optional(),
    plan: planField.optional(),
    limits: limitsSchema.partial().optional(),
  })
  .meta({ examples: [{ limits: { concurrentPages: 8, storedBytes: null } }] });
