interface Release {
  /** The image that the container is built on, as `docker` takes it. */
  readonly image: string;
  /** Packages of the lock file without integrity, as `name@version`. */
  readonly unverified: readonly string[];
}

const BY_DIGEST = /^[\w./:-]+@sha256:[0-9a-f]{64}$/;
/** The container runs on Linux; packages for other systems are not in it. */
const FOR_OTHER_SYSTEMS = /-(?:android|darwin|freebsd|netbsd|openbsd|openharmony|sunos|win32|wasm32)(?:-|@)/;

/** Why a release cannot be made from this; empty when it can. */
export function releaseProblems({ image, unverified }: Release): string[] {
  const problems: string[] = [];
  if (!BY_DIGEST.test(image)) {
    problems.push(`the base image "${image}" is not named by its digest (name@sha256:…).`);
  }
  const inImage = unverified.filter((name) => !FOR_OTHER_SYSTEMS.test(name));
  if (inImage.length > 0) {
    problems.push(
      `${inImage.length} packages for Linux have no integrity in package-lock.json (${inImage.slice(0, 3).join(', ')} …); ` +
        'run node scripts/complete-lock.ts where the registry has them.',
    );
  }
  return problems;
}
