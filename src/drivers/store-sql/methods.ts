import type { Steps } from './steps.ts';

/**
 * How a method is run. `read`: it changes nothing, and SQLite answers it at once from committed data. `snapshot`: the same,
 * and what its statements read is of one moment. `change`: one statement that changes something, beside others that only
 * read; PostgreSQL needs no transaction for it. `transaction`: several statements, all or none.
 */
export type Access = 'read' | 'snapshot' | 'change' | 'transaction';

export interface Traits {
  /**
   * A power failure may undo the change: it is written at once, which survives the end of the process, and synced with
   * the next call that must survive more.
   */
  readonly isUnsynced?: true;
  /** The call takes work or rights away, and gets the space that is reserved for that on a full disk. */
  readonly isReserved?: true;
  /** The transaction may wait for one that changes every task of a job, which takes minutes when there are millions. */
  readonly mayWaitLong?: true;
}

/** How long such a statement may take in PostgreSQL, and one that goes through a whole job or all hosts. */
export const WHOLE_JOB_LIMIT_MS = 600_000;

export interface Method<Values extends unknown[] = never[], Result = unknown> extends Traits {
  readonly access: Access;
  readonly steps: (...values: Values) => Steps<Result>;
}

/** The methods of a port, written once for both databases. */
export type Methods<Port> = {
  readonly [Name in keyof Port]: Port[Name] extends (...values: infer Values) => Promise<infer Result>
    ? Method<Values, Result>
    : never;
};

const define =
  (access: Access) =>
  <Values extends unknown[], Result>(
    steps: (...values: Values) => Steps<Result>,
    traits: Traits = {},
  ): Method<Values, Result> => ({ access, steps, ...traits });

export const read = define('read');
export const snapshot = define('snapshot');
export const change = define('change');
export const transaction = define('transaction');

/** SQLite need not make a transaction of the method, since no other call comes between its statements. */
export const isReading = ({ access }: Method): boolean => access === 'read' || access === 'snapshot';

const CHANGE = /\b(?:INSERT|UPDATE|DELETE)\b/;

/** Throws at a statement that the method which sends it was not declared for. */
export type AccessCheck = (statement: string) => void;

export function createAccessCheck(access: Access): AccessCheck {
  const mostChanges = { read: 0, snapshot: 0, change: 1, transaction: Number.POSITIVE_INFINITY }[access];
  let changes = 0;
  return (statement) => {
    if (CHANGE.test(statement)) changes += 1;
    if (changes > mostChanges) throw new Error(`A method is declared as ${access} and sends: ${statement}`);
  };
}
