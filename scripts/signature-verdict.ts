export interface SignatureVerdict {
  readonly isRefused: boolean;
  readonly message: string;
}

/**
 * What `npm audit signatures --json` has found. A registry that offers no keys, or cannot be reached, says nothing about
 * the packages: that is told, and is no failure, so that tests run without a network.
 */
export function signatureVerdict(exitCode: number, stdout: string): SignatureVerdict {
  const { invalid, missing } = namesOf(stdout);
  if (invalid.length > 0 || missing.length > 0) {
    const list = [...invalid, ...missing].slice(0, 10).join(', ');
    return {
      isRefused: true,
      message: `signatures of packages: ${invalid.length} are wrong, ${missing.length} are missing: ${list}`,
    };
  }
  if (exitCode === 0) return { isRefused: false, message: 'signatures of packages: all are right' };
  return {
    isRefused: false,
    message:
      'signatures of packages: NOT CHECKED, because the registry cannot be reached or offers no signatures',
  };
}

function namesOf(stdout: string): { invalid: string[]; missing: string[] } {
  try {
    const { invalid, missing } = JSON.parse(stdout) as Record<string, unknown>;
    return { invalid: listOf(invalid), missing: listOf(missing) };
  } catch {
    return { invalid: [], missing: [] };
  }
}

function listOf(value: unknown): string[] {
  if (!Array.isArray(value)) return [];
  return value.map(({ name, version }: { name?: unknown; version?: unknown }) => `${name}@${version}`);
}
