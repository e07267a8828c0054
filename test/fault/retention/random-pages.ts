import { createHash, randomUUID } from 'node:crypto';
import { draftBatch } from '../../../src/capabilities/jobs/accept/job-draft.ts';
import { batchRequestSchema } from '../../../src/capabilities/jobs/request/job-request.ts';
import { settingsSchema } from '../../../src/core/config/settings.ts';
import type { AccountId, ContentHash, HostKey, JobId } from '../../../src/core/model/ids.ts';
import type { NewPage, PageRecord } from '../../../src/core/model/page.ts';
import { packRecord } from '../../../src/core/model/page-record.ts';
import type { Task } from '../../../src/core/model/task.ts';
import type { Blob } from '../../../src/core/ports/blobs.ts';
import type { LeaseRef } from '../../../src/core/ports/host-store.ts';
import type { Completion } from '../../../src/core/ports/ledger-store.ts';
import type { Storage } from '../../../src/wiring/storage.ts';

export type Random = () => number;

/** Where the pages are kept; the process that writes them and the one that checks them open the same place. */
export interface RetentionPlace {
  readonly dataDir: string;
  readonly databaseUrl?: string | undefined;
  readonly s3Url?: string | undefined;
}

export const storagePlaceOf = ({ dataDir, databaseUrl, s3Url }: RetentionPlace) => ({
  dataDir,
  databaseUrl,
  s3Url,
  databasePool: 4,
  spillBytes: settingsSchema.parse({}).spillBytes,
});

const LEASE_MS = 60_000;
/** Bodies that pages of all jobs share. */
const SHARED_BODIES = 200;
const PAGES_AT_ONCE = 250;

const blobOf = (text: string): Blob => {
  const bytes = Buffer.from(text);
  return { hash: createHash('sha256').update(bytes).digest('hex') as ContentHash, bytes };
};

/** One page in five has a body that others have too, one in ten pictures. */
function pageOf(task: Task, random: Random): { readonly page: NewPage; readonly blobs: readonly Blob[] } {
  const isShared = random() < 0.2;
  const words = isShared ? `shared ${Math.floor(random() * SHARED_BODIES)}` : task.url;
  const body = blobOf(`<p>${words} ${'lorem ipsum dolor '.repeat(20 + Math.floor(random() * 200))}</p>`);
  const pictures = random() < 0.1 ? [blobOf(`picture of ${words}`), blobOf(`sent ${words}`)] : [];
  const [picture, sent] = pictures;
  const record: PageRecord = {
    ...(picture === undefined || sent === undefined
      ? {}
      : {
          rendered: {
            screenshot: { contentHash: picture.hash, contentType: 'image/png', bytes: picture.bytes.length },
            raw: { contentHash: sent.hash, charset: 'utf-8' },
          },
        }),
    metadata: null,
    links: [],
    text: words.repeat(20),
  };
  const page: NewPage = {
    url: task.url,
    finalUrl: task.url,
    statusCode: 200,
    contentType: 'text/html',
    charset: 'utf-8',
    fetchedAt: Date.now(),
    depth: 0,
    contentHash: body.hash,
    textHash: null,
    bytes: body.bytes.length,
    title: words,
    etag: null,
    lastModified: null,
    duplicateOf: null,
    errorCode: null,
    errorMessage: null,
    record: packRecord(record),
  };
  return { page, blobs: [body, ...pictures] };
}

/** Creates a job and stores its pages as a crawl does: first bodies, then the commit. Tells how many at a time. */
export async function storeJob(
  { store, blobs }: Pick<Storage, 'store' | 'blobs'>,
  accountId: AccountId,
  size: number,
  random: Random,
  onPages: (count: number) => void,
): Promise<JobId> {
  const id = randomUUID() as string as JobId;
  const host = `${id}.example` as HostKey;
  const urls = Array.from({ length: size }, (_, n) => `https://${host}/${n}`);
  const draft = draftBatch(batchRequestSchema.parse({ urls }), () => false);
  await store.createJob({ ...draft, id, accountId }, draft.tasks);
  const lease = await store.acquireHost(host, 'retention', LEASE_MS);
  if (lease === null) throw new Error(`The host ${host} could not be acquired.`);
  for (;;) {
    const tasks = await store.claimTasks(lease, PAGES_AT_ONCE, []);
    if (tasks.length === 0) break;
    const made = tasks.map((task) => ({ task, ...pageOf(task, random) }));
    await blobs.put(made.flatMap((each) => each.blobs));
    await store.commit(made.map(({ task, page }) => completionOf(lease, task, page)));
    onPages(tasks.length);
  }
  await store.releaseHost(lease, lease.state, 0);
  return id;
}

const completionOf = (lease: LeaseRef, task: Task, page: NewPage): Completion => ({
  lease,
  taskId: task.id,
  jobSeq: task.jobSeq,
  end: { state: 'done', rule: null },
  trace: [],
  bytes: page.bytes,
  page,
  discovered: [],
});
