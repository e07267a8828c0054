/** What reading one piece of script or broken JSON may cost; beyond it there is no value. */
export const LITERAL_LIMITS = {
  chars: 5_000_000,
  depth: 100,
  /** Values of all kinds, keys not counted. */
  values: 300_000,
} as const;
