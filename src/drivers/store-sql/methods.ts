import type { Steps } from './steps.ts';

/**
 * How a method is run. `read`: it changes nothing, and SQLite answers it at once from committed data. `change`: one
 * statement, after others that only read; PostgreSQL needs no transaction for it. `transaction`: several statements, all
 * or none.
 */
export type Access = 'read' | 'change' | 'transaction';

export interface Traits {
  /**
   * A power failure may undo the change: it is written at once, which survives the end of the process, and synced with
   * the next call that must survive more.
   */
  readonly isUnsynced?: true;
  /** The call takes work or rights away, and gets the space that is reserved for that on a full disk. */
  readonly isReserved?: true;
}

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
export const change = define('change');
export const transaction = define('transaction');

const CHANGE = /\b(?:INSERT|UPDATE|DELETE)\b/;

/** Throws at a statement that the method which sends it was not declared for. */
export type AccessCheck = (statement: string) => void;

export function createAccessCheck(access: Access): AccessCheck {
  const mostChanges = { read: 0, change: 1, transaction: Number.POSITIVE_INFINITY }[access];
  let changes = 0;
  return (statement) => {
    if (CHANGE.test(statement)) changes += 1;
    if (changes > mostChanges) throw new Error(`A method is declared as ${access} and sends: ${statement}`);
  };
}
