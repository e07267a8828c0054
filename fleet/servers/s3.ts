import { isCephInstalled, startCeph } from './ceph.ts';
import { isMinioInstalled, startMinio } from './minio.ts';
import type { S3Options, S3Server } from './s3-server.ts';

/** Ceph where it is installed, otherwise MinIO. */
export async function startS3(options: S3Options): Promise<S3Server> {
  if (await isCephInstalled()) return startCeph(options);
  if (await isMinioInstalled()) return startMinio(options);
  throw new Error('No S3 server is installed, neither Ceph (radosgw) nor minio. Run: sh scripts/servers.sh');
}
