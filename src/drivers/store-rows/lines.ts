/**
 * The line of a task among those of its account, in SQL: single scrapes, whose rank is 0, share the line 0, and each other job
 * has its own. See `src/core/model/turns.ts`.
 */
export const SQL_LINE = 'CASE rank WHEN 0 THEN 0 ELSE job_seq END';
