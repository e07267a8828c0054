import { ScrapifieError } from '../../core/errors/scrapifie-error.ts';
import type { AccountId, JobId } from '../../core/model/ids.ts';
import type { JobOptions, PageOptions } from '../../core/model/job.ts';
import type { RenderAction } from '../../core/model/render.ts';
import { hideSecrets } from './secret-fields.ts';
import { lockedBy, type Vault, type VaultPlace } from './vault.ts';

/** The parts of page options that may hold a log-in: headers, cookies, a posted body, the proxy's URL, typed text, files, scripts. */
type SecretParts = Pick<PageOptions, 'headers' | 'cookies' | 'body' | 'proxy'> & {
  readonly actions: readonly RenderAction[] | null;
};

interface JobRef {
  readonly id: JobId;
  readonly accountId: AccountId;
}

/**
 * The options as they are stored: with `HIDDEN_VALUE` in place of each secret, and the secrets sealed beside them. Options
 * without secrets are stored as they are, and so are all options where there is no vault.
 */
export function sealOptions(options: JobOptions, vault: Vault | null, job: JobRef): JobOptions {
  if (vault === null || options.sealed !== undefined) return options;
  const shown = hideSecrets(options.page);
  if (shown === options.page) return options;
  const plain = Buffer.from(JSON.stringify(secretParts(options.page)));
  const sealed = Buffer.from(vault.seal(plain, placeOf(job))).toString('base64');
  return { ...options, page: shown, sealed };
}

/** What `sealOptions` was given. Throws INVALID_SETTINGS without the key, DATABASE_CORRUPT when the row was changed. */
export function openOptions(options: JobOptions, vault: Vault | null, job: JobRef): JobOptions {
  const { sealed, ...stored } = options;
  if (sealed === undefined) return options;
  const bytes = Buffer.from(sealed, 'base64');
  if (vault === null) throw lockedBy(bytes, placeOf(job), null);
  const { actions, ...parts } = parse(vault.open(bytes, placeOf(job)), job);
  const { render } = stored.page;
  return {
    ...stored,
    page: {
      ...stored.page,
      ...parts,
      render: render === null || actions === null ? render : { ...render, actions },
    },
  };
}

/** The same options under the vault's present key, those that were stored in the open too; null when they are already. */
export function resealOptions(options: JobOptions, vault: Vault, job: JobRef): JobOptions | null {
  if (options.sealed === undefined) {
    const sealed = sealOptions(options, vault, job);
    return sealed === options ? null : sealed;
  }
  const wrapped = vault.rewrap(Buffer.from(options.sealed, 'base64'), placeOf(job));
  return wrapped === null ? null : { ...options, sealed: Buffer.from(wrapped).toString('base64') };
}

const secretParts = ({ headers, cookies, body, proxy, render }: PageOptions): SecretParts => ({
  headers,
  cookies,
  body,
  proxy,
  actions: render?.actions ?? null,
});

const placeOf = ({ id, accountId }: JobRef): VaultPlace => ({ kind: 'job', accountId, name: id });

function parse(json: Uint8Array, { id }: JobRef): SecretParts {
  try {
    return JSON.parse(Buffer.from(json).toString('utf8')) as SecretParts;
  } catch {
    // Without the cause, which quotes what it could not read.
    throw new ScrapifieError('DATABASE_CORRUPT', `The options of the job ${id} are damaged. Delete it.`);
  }
}
