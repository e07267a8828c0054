import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DCLinter } from 'dclint';
import { ValidationSeverity, validate } from 'dockerfile-utils';
import { afterAll, describe, expect, it } from 'vitest';
import { lookForProgram } from '../../fleet/servers/find-program.ts';
import { loadSettings } from '../../src/core/config/load.ts';
import { EXIT } from '../../src/core/errors/registry.ts';
import { whyNoContainers } from './container.ts';
import { SWARM_VARIABLES } from './deployments.ts';
import { type ComposeFile, readCompose } from './readers/compose.ts';
import { ROOT, readText } from './readers/dockerfile.ts';

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'scrapifie-deploy-'));
afterAll(() => rmSync(folder, { recursive: true }));

const STACK = 'deploy/swarm/stack.yaml';
const UNIT = 'deploy/systemd/scrapifie.service';

describe('compose files', () => {
  // Besides the schema of the compose specification. Orders of keys are ours, `docker compose up --build` gives what it builds
  // the name of the image, and a reader of this test can count services.
  const off = [
    'no-build-and-image',
    'service-keys-order',
    'services-alphabetical-order',
    'top-level-properties-order',
    'require-project-name-field',
    'require-quotes-in-ports',
  ];
  const rules = Object.fromEntries(off.map((rule) => [rule, 0 as const]));
  interface Told {
    readonly messages: readonly { readonly rule: string; readonly line: number; readonly message: string }[];
  }
  const problemsIn = (path: string, more: Record<string, 0> = {}) => {
    const linter = new DCLinter({ rules: { ...rules, ...more }, quiet: false, debug: false, exclude: [] });
    // Its types import files without their endings, which this project's compiler does not follow.
    const told = linter.lintFiles([path], false) as readonly Told[];
    return told.flatMap(({ messages }) =>
      messages.map(({ rule, line, message }) => `${line} ${rule}: ${message}`),
    );
  };

  it.each(['compose.yaml', 'compose.fleet.yaml'])('%s follows the compose specification', (path) => {
    expect(problemsIn(join(ROOT, path))).toEqual([]);
  });

  it('the stack of Swarm follows it, and Traefik listens on all addresses', () => {
    expect(problemsIn(join(ROOT, STACK), { 'no-unbound-port-interfaces': 0 })).toEqual([]);
  });

  it('a key that the specification does not know is told', () => {
    writeFileSync(join(folder, 'compose.yaml'), 'services: { one: { image: "a:1", read_onyl: true } }\n');
    expect(problemsIn(join(folder, 'compose.yaml')).join()).toContain('invalid-schema');
  });

  it.each(['compose.yaml', 'compose.fleet.yaml', STACK])(
    '%s names secrets, volumes and networks that it has',
    (path) => {
      const file = readCompose(path, SWARM_VARIABLES) as ComposeFile &
        Record<string, Record<string, unknown>>;
      const names = (kind: string) => new Set(Object.keys(file[kind] ?? {}));
      const wrong = Object.entries(file.services).flatMap(
        ([service, { secrets = [], volumes = [], ...rest }]) => {
          const used = {
            secrets: secrets.map((secret) => (typeof secret === 'string' ? secret : secret.source)),
            volumes: volumes.flatMap((volume) =>
              typeof volume === 'string' && /^\w/.test(volume) ? [volume.split(':')[0] ?? ''] : [],
            ),
            networks: (rest as { networks?: readonly string[] }).networks ?? [],
          };
          return Object.entries(used).flatMap(([kind, list]) =>
            list.filter((name) => !names(kind).has(name)).map((name) => `${service}: ${kind} ${name}`),
          );
        },
      );
      expect(wrong).toEqual([]);
    },
  );

  it.each(['compose.yaml', 'compose.fleet.yaml', STACK])('%s mounts files that this project has', (path) => {
    const { services } = readCompose(path, { ...SWARM_VARIABLES, PROJECT: '.' });
    const sources = Object.values(services).flatMap(({ volumes = [] }) =>
      volumes.flatMap((volume) =>
        typeof volume === 'string' && volume.startsWith('./') ? [volume.split(':')[0] ?? ''] : [],
      ),
    );
    // The secrets of alerts are the operator's.
    const missing = sources.filter(
      (source) => !source.endsWith('alert-secrets') && !existsSync(join(ROOT, source)),
    );
    expect(missing).toEqual([]);
  });

  it('the stack has no key that `docker stack deploy` passes over', () => {
    const ignored = ['build', 'devices', 'ipc', 'links', 'pid', 'privileged', 'restart', 'security_opt'];
    const { services } = readCompose(STACK, SWARM_VARIABLES);
    const found = Object.entries(services).flatMap(([service, keys]) =>
      [...ignored, 'shm_size', 'tmpfs', 'userns_mode']
        .filter((key) => key in keys)
        .map((key) => `${service}: ${key}`),
    );
    expect(found).toEqual([]);
  });

  it('Docker reads the stack', async ({ skip }) => {
    const docker = await lookForProgram('docker', { says: /^Docker version/ });
    if (docker === null) return skip('there is no docker command');
    const { stdout } = await run(docker, ['stack', 'config', '--compose-file', join(ROOT, STACK)], {
      env: { ...SWARM_VARIABLES, HOME: folder },
    });
    expect(stdout).toContain('order: start-first');
  });
});

describe('the seccomp profile for browsers', () => {
  interface Rule {
    readonly names: readonly string[];
    readonly action: string;
    readonly args?: readonly unknown[];
    readonly includes?: unknown;
  }
  const profile = JSON.parse(readText('deploy/docker/seccomp.json')) as {
    readonly defaultAction: string;
    readonly syscalls: readonly Rule[];
  };
  const always = new Set(
    profile.syscalls
      .filter(({ args, includes }) => args === undefined && includes === undefined)
      .flatMap(({ names }) => names),
  );

  it('refuses what it does not name, and allows namespaces and nothing that needs rights of the host', () => {
    expect(profile.defaultAction).toBe('SCMP_ACT_ERRNO');
    expect(new Set(profile.syscalls.map(({ action }) => action))).toEqual(new Set(['SCMP_ACT_ALLOW']));
    for (const name of ['clone', 'clone3', 'unshare', 'setns', 'chroot', 'mount', 'umount2', 'seccomp'])
      expect([name, always.has(name)]).toEqual([name, true]);
    const never = [
      'bpf',
      'perf_event_open',
      'keyctl',
      'add_key',
      'kexec_load',
      'init_module',
      'open_by_handle_at',
    ];
    for (const name of [
      ...never,
      'io_uring_setup',
      'userfaultfd',
      'reboot',
      'swapon',
      'pivot_root',
      'fsopen',
      'iopl',
    ])
      expect([name, profile.syscalls.some(({ names }) => names.includes(name))]).toEqual([name, false]);
    const all = profile.syscalls.filter(({ args }) => args === undefined).flatMap(({ names }) => names);
    expect(all.filter((name, at) => all.indexOf(name) !== at)).toEqual([]);
  });

  it.each(['compose.yaml', 'compose.fleet.yaml'])('is that of every service with a browser in %s', (path) => {
    const { services } = readCompose(path) as ComposeFile & {
      services: Record<string, { security_opt?: readonly string[] }>;
    };
    const withBrowser = Object.entries(services).filter(([, { image }]) => image === 'scrapifie:latest');
    expect(withBrowser.length).toBeGreaterThan(0);
    for (const [name, { security_opt: options = [] }] of withBrowser) {
      expect([name, options]).toEqual([name, expect.arrayContaining(['no-new-privileges:true'])]);
      const [file = ''] = options.flatMap((option) => /^seccomp=(.*)$/.exec(option)?.[1] ?? []);
      expect([name, existsSync(join(ROOT, file)), file.endsWith('seccomp.json')]).toEqual([name, true, true]);
    }
  });

  it('is a file of the chart', () => {
    expect(readText('deploy/helm/scrapifie/files/seccomp.json')).toBe(readText('deploy/docker/seccomp.json'));
  });
});

describe('Dockerfiles', () => {
  it.each(['Dockerfile', 'deploy/docker/camoufox.Dockerfile'])(
    '%s has no problem that a linter knows',
    (path) => {
      const severe = {
        deprecatedMaintainer: ValidationSeverity.ERROR,
        directiveCasing: ValidationSeverity.ERROR,
        emptyContinuationLine: ValidationSeverity.ERROR,
        instructionCasing: ValidationSeverity.ERROR,
        instructionCmdMultiple: ValidationSeverity.ERROR,
        instructionEntrypointMultiple: ValidationSeverity.ERROR,
        instructionHealthcheckMultiple: ValidationSeverity.ERROR,
        instructionJSONInSingleQuotes: ValidationSeverity.ERROR,
        instructionWorkdirRelative: ValidationSeverity.ERROR,
      };
      expect(
        validate(readText(path), severe).map(({ range, message }) => `${range.start.line + 1}: ${message}`),
      ).toEqual([]);
      expect(validate('FROM node\nCOPPY . .\n', severe)).toHaveLength(1);
    },
  );
});

describe('the launcher', () => {
  it('gives the heap half of the memory of a container, and no more than 1 GB', async ({ skip }) => {
    const reason = whyNoContainers();
    if (reason !== null) return skip(reason);
    const heapWith = async (limit: string) => {
      const script =
        'mount -t tmpfs tmpfs /sys/fs/cgroup; echo "$1" >/sys/fs/cgroup/memory.max; sh -x "$2" --version';
      const launcher = join(ROOT, 'scrapifie');
      const { stderr } = await run('unshare', ['--mount', 'sh', '-c', script, 'sh', limit, launcher]);
      return /--max-old-space-size=(\d+) .*main\.[jt]s/.exec(stderr)?.[1];
    };
    expect(await heapWith(String(512 * 2 ** 20))).toBe('256');
    expect(await heapWith(String(8 * 2 ** 30))).toBe('1024');
    expect(await heapWith('max')).toBe('1024');
  });
});

describe('the unit of systemd', () => {
  it('is one that systemd takes, and rates as well confined', async ({ skip }) => {
    const analyze = await lookForProgram('systemd-analyze', { says: /^systemd/ });
    if (analyze === null) return skip('there is no systemd-analyze');
    // The program is where this clone has it.
    const unit = join(folder, 'scrapifie.service');
    writeFileSync(unit, readText(UNIT).replace('/usr/local/bin/scrapifie', join(ROOT, 'scrapifie')));
    const { stdout, stderr } = await run(analyze, ['verify', unit]);
    expect(stdout + stderr).toBe('');
    // In tenths of points; 0 is confined, 100 is not.
    await run(analyze, ['security', '--offline=true', '--threshold=25', unit]);
  });
});

describe('make-secrets.sh', () => {
  it('makes secrets that the settings accept, in files that only their owner finds, and changes none', async () => {
    const secrets = join(folder, 'secrets');
    const make = () => run('sh', [join(ROOT, 'deploy/compose/make-secrets.sh'), secrets]);
    const contents = () =>
      readdirSync(secrets)
        .sort()
        .map((name) => readFileSync(join(secrets, name), 'utf8'));
    await make();
    const first = contents();
    await make();
    expect(contents()).toEqual(first);
    expect(new Set(first).size).toBe(first.length);
    expect(statSync(secrets).mode & 0o777).toBe(0o700);
    const file = readCompose('compose.fleet.yaml');
    expect(readdirSync(secrets).sort()).toEqual(Object.keys(file.secrets ?? {}).sort());
    const environment = Object.fromEntries(
      Object.entries(file.services.api?.environment ?? {}).map(([name, value]) => [
        name,
        String(value ?? '').replace('/run/secrets', secrets),
      ]),
    );
    const settings = loadSettings(environment, { cwd: folder, isServing: true });
    expect(settings).toMatchObject({
      role: 'api',
      databaseUrl: expect.stringContaining('@postgres:5432/scrapifie'),
    });
  });
});

describe('a server that an uncaught error has ended', () => {
  it('is started again by systemd', () => {
    const unit = readText(UNIT);
    expect(unit).toMatch(/^Restart=on-failure$/m);
    const final = /^RestartPreventExitStatus=(.*)$/m.exec(unit)?.[1]?.split(' ').map(Number);
    expect(final).toEqual([EXIT.usage]);
    expect(unit).toMatch(/^StartLimitIntervalSec=0$/m);
  });

  it.each(['compose.yaml', 'compose.fleet.yaml'])('is started again by %s', (path) => {
    const policies = [...readText(path).matchAll(/^ +restart: *(\S+)/gm)].map(([, policy]) => policy);
    expect(policies.length).toBeGreaterThan(0);
    expect(new Set(policies)).toEqual(new Set(['unless-stopped']));
  });

  it('is started again by Swarm', () => {
    const conditions = [...readText(STACK).matchAll(/condition: *([a-z-]+)/g)].map(
      ([, condition]) => condition,
    );
    expect(conditions).toContain('any');
    expect(conditions).not.toContain('none');
  });
});
