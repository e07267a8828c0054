/** Variables that tell where programs of this machine are. */
const PLACES = [
  'PATH',
  'Path',
  'HOME',
  'XDG_CACHE_HOME',
  'LOCALAPPDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'PLAYWRIGHT_BROWSERS_PATH',
] as const;

/** What is needed of the environment to find a program, and nothing else of it. */
export function searchEnvironment(): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(PLACES.map((name) => [name, process.env[name]]));
}
