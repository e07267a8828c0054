import { setTimeout as pause } from 'node:timers/promises';
import { COMMAND_LINE } from '../../capabilities/accounts/api-key.ts';
import type { ExportView } from '../../capabilities/views/export-view.ts';
import { ERRORS, type ErrorCode } from '../../core/errors/registry.ts';
import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import { urlPart } from '../../lib/url-part.ts';
import { jobNamed } from '../folders/data-folder.ts';
import type { OpenCommandApi } from '../shell/shell.ts';
import type { ApiClient } from './api-client.ts';
import type { BackendExports } from './backend.ts';

/** Made in this process, from the store itself: no file is kept, the bytes go where the command writes them. */
export function localExports({ store, blobs, jobs, exports, account }: OpenCommandApi): BackendExports {
  return {
    async *bytes(id, spec, onProgress) {
      const job = await jobNamed(id, jobs, account);
      await exports.verify(spec, account);
      const details = { what: spec.type, format: spec.format };
      await store.audit([
        { at: Date.now(), actor: COMMAND_LINE, action: 'job.export', target: job.id, details },
      ]);
      // The formats are loaded by this command alone.
      const { exportBytes } = await import('../../capabilities/exports/write-export.ts');
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
