import { randomBytes } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { findProgram, lookForProgram, type ProgramQuery } from './find-program.ts';
import { freePort } from './free-port.ts';
import { bucketUrl, makeBucket, type S3Account, type S3Options, type S3Server } from './s3-server.ts';
import { createServerProcess } from './server-process.ts';

const MINIO: ProgramQuery = { says: /minio/i };
const READY_MS = 60_000;
const BUCKET = 'scrapifie';

export async function isMinioInstalled(): Promise<boolean> {
  return (await lookForProgram('minio', MINIO)) !== null;
}

/** For machines that have no Ceph, such as macOS. */
export async function startMinio({ dir }: S3Options): Promise<S3Server> {
  const command = await findProgram('minio', MINIO);
  const port = await freePort();
  const account: S3Account = {
    port,
    region: 'us-east-1',
    key: randomBytes(10).toString('hex'),
    secret: randomBytes(20).toString('hex'),
  };
  const data = join(dir, 'data');
  await mkdir(data, { recursive: true });
  const server = createServerProcess({
    name: 'MinIO',
    command,
    args: [
      'server',
      data,
      '--address',
      `127.0.0.1:${port}`,
      '--console-address',
      `127.0.0.1:${await freePort()}`,
    ],
    cwd: dir,
    environment: { MINIO_ROOT_USER: account.key, MINIO_ROOT_PASSWORD: account.secret, MINIO_UPDATE: 'off' },
    logFile: join(dir, 'minio.log'),
    stopSignal: 'SIGTERM',
    readyMs: READY_MS,
    isReady: async () => {
      await makeBucket(account, BUCKET);
      return true;
    },
  });
  await server.start();
  return {
    url: bucketUrl(account, BUCKET),
    get pid() {
      return server.pid;
    },
    createBucket: (name) => makeBucket(account, name),
    stop: server.stop,
    async restart() {
      await server.stop();
      await server.start();
    },
    kill: server.kill,
    pause: server.pause,
    resume: server.resume,
  };
}
