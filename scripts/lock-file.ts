export interface LockFile {
  packages: Record<string, LockEntry>;
}

interface LockEntry {
  version?: string;
  integrity?: string;
  link?: boolean;
  cpu?: string[];
  dev?: boolean;
  libc?: string[];
  optional?: boolean;
  os?: string[];
  optionalDependencies?: Record<string, string>;
}

const SYSTEMS = /^(?:aix|android|darwin|freebsd|linux|netbsd|openbsd|openharmony|sunos|win32)$/;
const PROCESSORS = /^(?:arm|arm64|ia32|loong64|mips64el|ppc64|riscv64|s390x|wasm32|x64)$/;

/**
 * The packages for other platforms that are named in the lock file but have no entry of their own: npm leaves them
 * out when the registry it is run against does not carry them, and then `npm ci` refuses the file everywhere.
 */
export function missingEntries(lock: LockFile): Record<string, LockEntry> {
  const missing: Record<string, LockEntry> = {};
  for (const { optionalDependencies = {}, dev } of Object.values(lock.packages)) {
    for (const [name, version] of Object.entries(optionalDependencies)) {
      const path = `node_modules/${name}`;
      const platform = platformOf(name);
      // A range instead of a version would need the registry to say what it means.
      if (Object.hasOwn(lock.packages, path) || platform === null || !/^\d/.test(version)) continue;
      const { os, cpu, libc } = platform;
      missing[path] = {
        version,
        cpu: [cpu],
        ...(dev === true && { dev }),
        ...(libc !== null && { libc: [libc] }),
        optional: true,
        ...(os !== null && { os: [os] }),
      };
    }
  }
  return missing;
}

/** The packages that npm would install without checking what it got, as `name@version`. */
export function entriesWithoutIntegrity(lock: LockFile): string[] {
  return Object.entries(lock.packages)
    .filter(([path, { integrity, link }]) => path !== '' && integrity === undefined && link !== true)
    .map(([path, { version }]) => `${nameOf(path)}@${version}`)
    .sort();
}

/** Returns the name of the package at a path: `@b/c` for `node_modules/a/node_modules/@b/c`. */
export const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 13);

/** Such packages say by their name where they run: `binding-linux-x64-musl`. */
function platformOf(name: string): { os: string | null; cpu: string; libc: string | null } | null {
  const words = name.slice(name.lastIndexOf('/') + 1).split('-');
  const os = words.find((word) => SYSTEMS.test(word)) ?? null;
  const cpu = words.find((word) => PROCESSORS.test(word));
  if (cpu === undefined) return null;
  const isMusl = words.some((word) => word.startsWith('musl'));
  return { os, cpu, libc: os !== 'linux' ? null : isMusl ? 'musl' : 'glibc' };
}
