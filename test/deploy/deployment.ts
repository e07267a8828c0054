import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadSettings, type SettingOverrides } from '../../src/core/config/load.ts';
import {
  drainNoticeOf,
  environmentName,
  ROLES,
  type Role,
  type Settings,
  settingNames,
} from '../../src/core/config/settings.ts';
import { isScrapifieError } from '../../src/core/errors/scrapifie-error.ts';
import { DUTIES } from '../../src/wiring/roles.ts';

/** One way to run Scrapifie, as a file or a set of rendered manifests describes it. */
export interface Deployment {
  /** Name of the file, such as `compose.fleet.yaml`. */
  readonly name: string;
  readonly processes: readonly DeployedProcess[];
}

/** A process of Scrapifie, with everything around it that has to agree with its settings. */
export interface DeployedProcess {
  /** Such as `http-worker`; unique within the deployment. */
  readonly name: string;
  /** Arguments of the program, such as `serve`. */
  readonly args: readonly string[];
  /**
   * The environment, with what the image sets. A value that comes from a secret without a file (a Kubernetes
   * `secretKeyRef`, an ECS `secrets` entry) is given as `sampleSecret(variable)`.
   */
  readonly variables: Readonly<Record<string, string>>;
  /** Files with secrets that are mounted, by their paths in the container. */
  readonly secretFiles: readonly string[];
  /** Folders that the process may write. */
  readonly writable: readonly string[];
  /** Files and folders that are mounted to be read, secrets left out. */
  readonly readable: readonly string[];
  /** Everything but `writable` is read-only. */
  readonly isReadOnly: boolean;
  /** As the orchestrator has it, such as `1000` or `1000:1000`; a name counts for systemd alone. */
  readonly user: string;
  readonly hasBrowser: boolean;
  /** Ports under which others reach the process: published ones, those of services, probes and balancers. */
  readonly ports: readonly number[];
  /** Paths that probes, balancers and Prometheus ask for. */
  readonly httpPaths: readonly string[];
  /** From SIGTERM to SIGKILL. */
  readonly graceMs: number;
}

/** What a process needs after its drain, before it is killed (see docs/scaling.md, `SCRAPIFIE_DRAIN_MS`). */
const CLOSE_MS = 10_000;
/** What every role answers; test/deploy/image.test.ts asks for them. */
const HTTP_PATHS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);
/** Settings that name a file or a folder which has to be there. */
const READ_PATHS = ['policyFile', 'proxyFile', 'vaultKeyPath'] as const satisfies (keyof Settings)[];
/** Settings of which every role of a fleet needs one: with a key for some of them, renders are refused. */
const FLEET_SECRETS = ['vaultKey', 'databaseUrl', 'redisUrl', 's3Url'] as const;

const VARIABLES: ReadonlySet<string> = new Set(settingNames.map(environmentName));

const SAMPLES: Readonly<Record<string, string>> = {
  SCRAPIFIE_DATABASE_URL: 'postgres://scrapifie:secret@postgres:5432/scrapifie',
  SCRAPIFIE_REDIS_URL: 'redis://:secret@redis:6379/0',
  SCRAPIFIE_S3_URL: 'http://scrapifie:secret@minio:9000/scrapifie',
  SCRAPIFIE_BACKUP_S3_URL: 'http://scrapifie:secret@minio:9000/backups',
  SCRAPIFIE_EXPORT_S3_URL: 'http://scrapifie:secret@minio:9000/exports',
  SCRAPIFIE_SMTP_URL: 'smtp://scrapifie:secret@mail:587',
  SCRAPIFIE_VAULT_KEY: 'ab'.repeat(32),
};

/** A value that the setting accepts, in place of a secret that no file of this project has. */
export const sampleSecret = (variable: string): string => SAMPLES[variable] ?? 'a-secret-of-the-operator';

/** What is wrong with a deployment; empty when it would start and work. */
export function problemsOf({ processes }: Deployment): readonly string[] {
  const checked = processes.map((each) => ({ name: each.name, ...checkProcess(each) }));
  const problems = checked.flatMap(({ name, problems }) => problems.map((problem) => `${name}: ${problem}`));
  const fleet = checked.flatMap(({ name, settings }) =>
    settings === null || settings.role === 'all' ? [] : [{ name, settings }],
  );
  if (processes.length === 0) problems.push('no process of Scrapifie was found');
  if (fleet.length === 0) return problems;
  const roles = new Set<Role>(fleet.map(({ settings }) => settings.role));
  for (const role of ROLES)
    if (role !== 'all' && !roles.has(role)) problems.push(`no process has the role ${role}`);
  for (const { name, settings } of fleet) {
    for (const secret of FLEET_SECRETS) {
      if (settings[secret] === undefined)
        problems.push(`${name}: ${secret} is not set, and every role of a fleet needs it`);
    }
  }
  return problems;
}

interface Checked {
  /** Null when the process would not start with them. */
  readonly settings: Settings | null;
  readonly problems: readonly string[];
}

function checkProcess(deployed: DeployedProcess): Checked {
  const problems: string[] = [];
  const settings = settingsOf(deployed, problems);
  if (!deployed.isReadOnly) problems.push('the root file system is not read-only');
  if (!/^[1-9]\d*(?::\d+)?$/.test(deployed.user) && deployed.user !== 'scrapifie') {
    problems.push(`the user "${deployed.user}" is not a number above 0`);
  }
  for (const path of deployed.httpPaths) {
    if (!HTTP_PATHS.has(path))
      problems.push(`${path} is asked for, and is not ${[...HTTP_PATHS].join(', ')}`);
  }
  if (settings === null) return { settings, problems };

  const served = [settings.port, settings.firecrawlPort];
  for (const port of deployed.ports) {
    if (!served.includes(port))
      problems.push(`port ${port} is used, and the process listens on ${settings.port}`);
  }
  if (deployed.ports.length > 0 && settings.host.startsWith('127.')) {
    problems.push(`its port is used from outside, and it listens on ${settings.host}`);
  }
  if (!deployed.writable.some((folder) => isWithin(settings.dataDir, folder))) {
    problems.push(`the data folder ${settings.dataDir} is not writable`);
  }
  const present = [...deployed.readable, ...deployed.writable, ...deployed.secretFiles];
  for (const name of READ_PATHS) {
    const path = settings[name];
    if (path !== undefined && !present.some((folder) => isWithin(path, folder))) {
      problems.push(`${name} is ${path}, which is not mounted`);
    }
  }
  const { render, crawl } = DUTIES[settings.role];
  const isRendering = render !== null || (crawl && settings.role === 'all');
  if (isRendering && !deployed.hasBrowser) problems.push(`the role ${settings.role} has no browser`);
  const stoppingMs = drainNoticeOf(settings) + settings.drainMs + CLOSE_MS;
  if (deployed.graceMs < stoppingMs) {
    problems.push(`is killed after ${deployed.graceMs} ms, and draining takes up to ${stoppingMs}`);
  }
  return { settings, problems };
}

/** The settings as the process itself would read them, which refuses unknown variables and missing ones of its role. */
function settingsOf(deployed: DeployedProcess, problems: string[]): Settings | null {
  const { variables, secretFiles } = deployed;
  const environment = Object.fromEntries(
    Object.entries(variables).map(([name, value]) => {
      // Some settings name a file themselves, such as SCRAPIFIE_POLICY_FILE.
      const isSecretFile = /^SCRAPIFIE_\w+_FILE$/.test(name) && !VARIABLES.has(name);
      const setting = isSecretFile ? name.slice(0, -'_FILE'.length) : null;
      if (setting === null || value === '') return [name, value];
      if (!secretFiles.includes(value)) problems.push(`${name} is ${value}, which is not mounted`);
      return [setting, sampleSecret(setting)];
    }),
  );
  const [command, ...flags] = deployed.args;
  if (command !== 'serve') problems.push(`runs "${deployed.args.join(' ')}", which is not serve`);
  const cwd = mkdtempSync(join(tmpdir(), 'scrapifie-deployed-'));
  try {
    return loadSettings(environment, { cwd, overrides: overridesOf(flags, problems), isServing: true });
  } catch (error) {
    if (!isScrapifieError(error)) throw error;
    problems.push(error.message);
    return null;
  } finally {
    rmSync(cwd, { recursive: true });
  }
}

/** `--data-dir /data` → `{ dataDir: '/data' }`. */
function overridesOf(flags: readonly string[], problems: string[]): SettingOverrides {
  const pairs = flags.join(' ').matchAll(/--([a-z-]+)[ =](\S+)/g);
  return Object.fromEntries(
    [...pairs].map(([, flag = '', value]) => {
      const name = flag.replace(/-([a-z])/g, (_, letter: string) => letter.toUpperCase());
      if (!settingNames.some((known) => known === name)) problems.push(`--${flag} is no option of serve`);
      return [name, value];
    }),
  );
}

const isWithin = (path: string, folder: string): boolean => path === folder || path.startsWith(`${folder}/`);
