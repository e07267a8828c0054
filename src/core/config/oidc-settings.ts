import { z } from 'zod';

/** Signatures of key pairs. Those of a shared secret, and none, are not among them: anyone with the public key could sign. */
const ALGORITHMS: ReadonlySet<string> = new Set([
  ...['RS', 'PS', 'ES'].flatMap((kind) => [`${kind}256`, `${kind}384`, `${kind}512`]),
  'EdDSA',
]);

/** Settings of the issuer whose bearer tokens are accepted. */
export const oidcFields = {
  oidcIssuer: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('OIDC issuer whose bearer tokens are accepted besides keys, exactly as its tokens name it.'),
  oidcAudience: z.string().min(1).optional().describe('Audience that its tokens must be for.'),
  oidcAccountClaim: z
    .string()
    .min(1)
    .default('account')
    .describe('Claim of its tokens that has the id of the account.'),
  oidcScopesClaim: z
    .string()
    .min(1)
    .default('scope')
    .describe('Claim of its tokens that has the scopes: names apart by spaces, or a list.'),
  oidcAlgorithms: z
    .string()
    .refine(
      (list) => list.split(',').every((name) => ALGORITHMS.has(name)),
      'must be names such as RS256,ES256,EdDSA',
    )
    .default('RS256,PS256,ES256,EdDSA')
    .describe('Signatures of its tokens that are accepted; only those of key pairs.'),
  oidcClockToleranceSeconds: z.coerce
    .number()
    .int()
    .min(0)
    .max(300)
    .default(30)
    .describe('Seconds by which the clocks of the issuer and of this machine may differ.'),
};
