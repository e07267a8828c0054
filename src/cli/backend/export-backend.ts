import { setTimeout as pause } from 'node:timers/promises';
import type { ExportPlaces } from '../../capabilities/exports/export-file.ts';
import { createExports } from '../../capabilities/exports/exports.ts';
import { exportBytes } from '../../capabilities/exports/write-export.ts';
import type { Jobs } from '../../capabilities/jobs/jobs.ts';
import type { ExportView } from '../../capabilities/views/export-view.ts';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AuditAction } from '../../core/model/audit-actions.ts';
import type { AccountId } from '../../core/model/ids.ts';
import type { Job } from '../../core/model/job.ts';
import type { Blobs } from '../../core/ports/blobs.ts';
import type { Files } from '../../core/ports/files.ts';
import type { Store } from '../../core/ports/store.ts';
import { urlPart } from '../../lib/url-part.ts';
import type { ApiClient } from './api-client.ts';
import type { BackendExports } from './backend.ts';

export interface LocalExportParts {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly jobs: Jobs;
  readonly account: AccountId;
  readonly settings: ExportPlaces;
  /** The job of an id, or the latest. */
  readonly named: (id: string) => Promise<Job>;
  readonly audit: (action: AuditAction, target: string, details: object) => Promise<unknown>;
}

/** No file is kept here: the bytes go where the command writes them. */
const NO_FILES = {} as Files;

/** Made in this process, from the store itself. */
export function localExports(parts: LocalExportParts): BackendExports {
  const { store, blobs, jobs, account, settings, named, audit } = parts;
  const exports = createExports({ store, jobs, files: NO_FILES, places: settings, now: Date.now });
  return {
    async *bytes(id, spec, onProgress) {
      const job = await named(id);
      await exports.verify(spec, account);
      await audit('job.export', job.id, { what: spec.type, format: spec.format });
      let [rows, sizeBytes] = [0, 0];
      const onRows = (more: number) => {
        rows += more;
      };
      for await (const chunk of exportBytes({ job, spec, createdAt: Date.now(), onRows }, { store, blobs })) {
        sizeBytes += chunk.length;
        onProgress({ rows, sizeBytes });
        yield chunk;
      }
      onProgress({ rows, sizeBytes });
    },
  };
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 2_000;

/** Written by a server, taken from there and deleted again. */
export function remoteExports(client: ApiClient, pathOf: (id: string) => Promise<string>): BackendExports {
  async function ready(
    path: string,
    begun: ExportView,
    onLook: (now: ExportView) => void,
  ): Promise<ExportView> {
    let [now, pauseMs] = [begun, FIRST_PAUSE_MS];
    while (now.status === 'pending' || now.status === 'running') {
      await pause(pauseMs);
      pauseMs = Math.min(pauseMs * 2, LONGEST_PAUSE_MS);
      now = await client.call<ExportView>('GET', path);
      onLook(now);
    }
    if (now.status === 'failed') throw exportFailure(now);
    return now;
  }
  return {
    async *bytes(id, spec, onProgress) {
      const begun = await client.call<ExportView>('POST', `${await pathOf(id)}/exports`, spec);
      const path = `/v1/exports/${urlPart(begun.id)}`;
      try {
        await ready(path, begun, onProgress);
        yield* client.download(`${path}/download`);
      } finally {
        await client.call('DELETE', path).catch(() => undefined);
      }
    },
  };
}

/** Why an export was given up. */
export function exportFailure({ error }: ExportView): ScrapifieError {
  const { code = 'EXPORT_FAILED', message = 'The export failed.' } = error ?? {};
  return new ScrapifieError(Object.hasOwn(ERRORS, code) ? (code as ErrorCode) : 'EXPORT_FAILED', message);
}
