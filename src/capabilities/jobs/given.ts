import type { JobId, KeyId, MonitorId } from '../../core/model/ids.ts';
import type { CredentialAccess, JobOptions, NewJob } from '../../core/model/job.ts';
import type { OperatorOptions } from './job-draft.ts';
import type { JobWebhook } from './webhook-fields.ts';

/** What the maker of a job says besides its request. */
export interface Given {
  /** The id the job gets, when it had to be known before; see `newId`. */
  readonly id?: JobId;
  readonly operator?: OperatorOptions;
  /** What the job may do with stored credentials; `use` by default. */
  readonly credentials?: CredentialAccess;
  /** The page whose log-in form the body of the request was made from; see `PageOptions.fillBodyFrom`. */
  readonly fillBodyFrom?: string;
  /** The run of a schedule that the job is for; `id` is the one that the run has. */
  readonly run?: NonNullable<NewJob['run']>;
  /** The check of a monitor that the job is. */
  readonly monitor?: { readonly id: MonitorId; readonly round: number };
  /** Has the same meaning as `JobOptions.secretOrigins`. */
  readonly secretOrigins?: readonly string[];
  /** Where its events are sent; a webhook of the request itself goes first. */
  readonly webhook?: JobWebhook | undefined;
  /** Has the same meaning as `JobOptions.traceParent`. */
  readonly traceParent?: string;
  /** Has the same meaning as `JobOptions.shownAs`. */
  readonly shownAs?: JobOptions['shownAs'];
  /** Ends the wait, never the job. */
  readonly signal?: AbortSignal;
  /** The actor for the audit log; defaults to the account. */
  readonly startedBy?: { readonly actor: string; readonly address: string; readonly keyId?: KeyId };
}
