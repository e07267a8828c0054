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

/** The variables of the environment that are needed to find a program. */
export function searchEnvironment(): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(PLACES.map((name) => [name, process.env[name]]));
}

/** Variables that a process that drives browsers, and the browsers, may see: none of ours, and no secrets. */
const CHILD = [
  'PATH',
  'Path',
  'HOME',
  'USER',
  'LOGNAME',
  'LANG',
  'LANGUAGE',
  'LC_ALL',
  'LC_CTYPE',
  'TZ',
  'TMPDIR',
  'TEMP',
  'TMP',
  'DISPLAY',
  'XAUTHORITY',
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
  'XDG_CACHE_HOME',
  'XDG_CONFIG_HOME',
  'DBUS_SESSION_BUS_ADDRESS',
  'FONTCONFIG_FILE',
  'FONTCONFIG_PATH',
  'LD_LIBRARY_PATH',
  'CHROME_DEVEL_SANDBOX',
  'CHROMIUM_FLAGS',
  'PLAYWRIGHT_BROWSERS_PATH',
  'LOCALAPPDATA',
  'APPDATA',
  'PROGRAMFILES',
  'PROGRAMFILES(X86)',
  'SYSTEMROOT',
  'SystemRoot',
  'WINDIR',
] as const;

/** The environment of a render process: an allow-list, so that new variables of this process are not passed on. */
export function childEnvironment(): Record<string, string> {
  return Object.fromEntries(
    CHILD.flatMap((name) => {
      const value = process.env[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
}
