import { execFile } from 'node:child_process';
import { randomBytes, randomUUID } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Cluster, cephConfiguration, monitorAddress } from './ceph-configuration.ts';
import { lookForProgram } from './find-program.ts';
import { freePort } from './free-port.ts';
import { bucketUrl, makeBucket, type S3Account, type S3Options, type S3Server } from './s3-server.ts';
import { createServerProcess, type ServerProcess } from './server-process.ts';

const run = promisify(execFile);

const PROGRAMS = [
  'ceph-mon',
  'ceph-osd',
  'radosgw',
  'radosgw-admin',
  'ceph',
  'ceph-authtool',
  'monmaptool',
] as const;
type Program = (typeof PROGRAMS)[number];
type Programs = Readonly<Record<Program, string>>;

/** One command of the set-up. Each takes a fraction of a second unless something is wrong. */
const STEP_MS = 30_000;
const READY_MS = 60_000;
/** Who may do what, as one keyring for all. */
const IDENTITIES: readonly (readonly [name: string, ...rights: (readonly [string, string])[]])[] = [
  ['mon.', ['mon', 'allow *']],
  ['client.admin', ['mon', 'allow *'], ['osd', 'allow *']],
  ['osd.0', ['mon', 'allow profile osd'], ['osd', 'allow *']],
];
const REGION = 'default';
const BUCKET = 'scrapifie';

export async function isCephInstalled(): Promise<boolean> {
  return (await findPrograms()) !== null;
}

/**
 * The smallest Ceph there can be: one monitor, one object store in memory, one gateway that speaks S3. kill(),
 * pause() and resume() are about the gateway; stop() ends all three, and the store writes itself to its folder.
 */
export async function startCeph({ dir }: S3Options): Promise<S3Server> {
  const programs = await findPrograms();
  if (programs === null) throw new Error('Ceph is not installed. Run: sh scripts/servers.sh');
  const [monitorPort, port] = [await freePort(), await freePort()];
  const account: S3Account = {
    port,
    region: REGION,
    key: randomBytes(10).toString('hex'),
    secret: randomBytes(20).toString('hex'),
  };
  const cluster: Cluster = { dir, fsid: randomUUID(), monitorPort, gatewayPort: port };
  const storeId = randomUUID();
  const [monmap, keyring] = [join(dir, 'monmap'), join(dir, 'keyring')];
  const configuration = ['-c', join(dir, 'ceph.conf')];

  const step = async (program: Program, ...args: string[]) => {
    try {
      return await run(programs[program], args, { cwd: dir, timeout: STEP_MS });
    } catch (error) {
      const { stderr = '' } = error as { stderr?: string };
      // Not the arguments: one of them is the secret.
      throw new Error(`${program} failed while Ceph was set up: ${stderr.slice(-2_000).trim()}`);
    }
  };
  const daemon = (program: Program, args: string[], isReady: () => Promise<boolean>): ServerProcess =>
    createServerProcess({
      name: `Ceph (${program})`,
      command: programs[program],
      args: [...configuration, ...args, '--foreground'],
      cwd: dir,
      logFile: join(dir, `${program}.log`),
      stopSignal: 'SIGTERM',
      readyMs: READY_MS,
      isReady,
    });

  /** A question to the monitor. */
  const ask = async (...question: string[]) => {
    const answer = ['--connect-timeout', '5', '--format', 'json'];
    return JSON.parse((await step('ceph', ...configuration, ...answer, ...question)).stdout);
  };

  const monitor = daemon(
    'ceph-mon',
    ['--id', 'a'],
    async () => (await ask('quorum_status')).quorum.length === 1,
  );
  const store = daemon(
    'ceph-osd',
    ['--id', '0', '--no-mon-config'],
    async () => (await ask('osd', 'stat')).num_up_osds === 1,
  );
  const gateway = daemon('radosgw', ['--name', 'client.admin', '--no-mon-config'], async () => {
    await makeBucket(account, BUCKET);
    return true;
  });
  const daemons = [monitor, store, gateway];
  const stop = async () => {
    for (const one of daemons.toReversed()) await one.stop();
  };

  for (const folder of ['mon', 'osd', 'rgw', 'crash']) await mkdir(join(dir, folder), { recursive: true });
  await writeFile(join(dir, 'ceph.conf'), cephConfiguration(cluster), { flag: 'wx' });
  await step(
    'monmaptool',
    '--create',
    '--fsid',
    cluster.fsid,
    '--addv',
    'a',
    monitorAddress(cluster),
    monmap,
  );
  await step('ceph-authtool', keyring, '--create-keyring');
  for (const [name, ...rights] of IDENTITIES) {
    const caps = rights.flatMap((right) => ['--cap', ...right]);
    await step('ceph-authtool', keyring, '--gen-key', '--name', name, ...caps);
  }
  await step('ceph-mon', ...configuration, '--id', 'a', '--mkfs', '--monmap', monmap, '--keyring', keyring);
  try {
    await monitor.start();
    await ask('osd', 'new', storeId, '0');
    await step(
      'ceph-osd',
      ...configuration,
      ...['--id', '0', '--mkfs', '--no-mon-config', '--osd-uuid', storeId],
    );
    await store.start();
    await step(
      'radosgw-admin',
      ...configuration,
      ...['--no-mon-config', 'user', 'create', '--uid', 'scrapifie', '--display-name', 'scrapifie'],
      ...['--access-key', account.key, '--secret-key', account.secret],
    );
    await gateway.start();
  } catch (error) {
    await stop();
    throw error;
  }

  return {
    url: bucketUrl(account, BUCKET),
    get pid() {
      return gateway.pid;
    },
    createBucket: (name) => makeBucket(account, name),
    stop,
    async restart() {
      await gateway.stop();
      for (const one of daemons) if (!one.isRunning) await one.start();
    },
    kill: gateway.kill,
    pause: gateway.pause,
    resume: gateway.resume,
  };
}

async function findPrograms(): Promise<Programs | null> {
  const found = await Promise.all(
    PROGRAMS.map(async (name) => [name, await lookForProgram(name, { says: /ceph version/ })] as const),
  );
  return found.every(([, path]) => path !== null) ? (Object.fromEntries(found) as Programs) : null;
}
