import {
  type AccessCheck,
  createAccessCheck,
  type Methods,
  WHOLE_JOB_LIMIT_MS,
} from '../store-sql/methods.ts';
import type { Sql, SqlWriter } from '../store-sql/sql.ts';
import type { Step, Steps } from '../store-sql/steps.ts';
import { NOW, type PostgresDatabase, type Session } from './database.ts';
import { jsonParameter } from './parameters.ts';

/** The methods on a pool of connections: those that need a transaction have one, the others send their statements. */
export function postgresMethods<Port>(methods: Methods<Port>, database: PostgresDatabase): Port {
  const bound = Object.entries<Methods<Port>[keyof Port]>(methods).map(
    ([name, { access, steps, mayWaitLong }]) => [
      name,
      async (...values: never[]) => {
        const runIn = (session: Session) => runPostgres(steps(...values), session, createAccessCheck(access));
        if (access === 'read' || access === 'change') return runIn(database);
        return database.transaction(async (query, run) => {
          if (access === 'snapshot') await query('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ');
          return runIn({ query, run });
        }, mayWaitLong && WHOLE_JOB_LIMIT_MS);
      },
    ],
  );
  return Object.fromEntries(bound) as Port;
}

/** Runs steps within the transaction under way. */
export async function runPostgres<Result>(
  steps: Steps<Result>,
  session: Session,
  check = createAccessCheck('transaction'),
): Promise<Result> {
  let next = steps.next();
  while (next.done !== true) next = steps.next(await answer(next.value, session, check));
  return next.value;
}

async function answer(step: Step, { query, run }: Session, check: AccessCheck): Promise<unknown> {
  if (step.wants === 'event') {
    check('INSERT INTO events');
    const { type, accountId, jobId, data } = step.event;
    return query(`SELECT write_event($1, $2, $3, ${NOW}, $4::jsonb)`, [
      type,
      accountId,
      jobId,
      jsonParameter(data),
    ]);
  }
  if (step.wants === 'lock') {
    return query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [step.name]);
  }
  const { text, values } = written(step.statement);
  check(text);
  if (step.wants === 'changes') return run(text, values);
  const rows = await query(text, values);
  return step.wants === 'row' ? rows[0] : rows;
}

function written(statement: Sql): { readonly text: string; readonly values: unknown[] } {
  let text = '';
  const values: unknown[] = [];
  const writer: SqlWriter = {
    database: 'postgres',
    text: (part) => {
      text += part;
    },
    value: (value) => {
      values.push(value);
      text += `$${values.length}`;
    },
    json: (value) => writer.value(jsonParameter(value)),
    oneOf: (list, type) => {
      values.push(list);
      text += `= ANY ($${values.length}::${type}[])`;
    },
    now: () => {
      text += NOW;
    },
  };
  statement(writer);
  return { text, values };
}
