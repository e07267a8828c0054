import { fileURLToPath } from 'node:url';

/** The policy file that rules when the settings name none. */
export const SHIPPED_POLICY = fileURLToPath(new URL('../../policies/default.yaml', import.meta.url));
