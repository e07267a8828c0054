import type { RoleState } from './role-process.ts';

/** One line of the table. */
export interface HealthRow {
  readonly name: string;
  /** 0 when there is no process. */
  readonly pid: number;
  /** Null when it is not known. */
  readonly port: number | null;
  readonly state: RoleState | 'up';
  readonly restarts: number;
  readonly rssBytes: number | null;
}

const HEADS = ['name', 'pid', 'port', 'state', 'restarts', 'rss'] as const;
/** Numbers end at the same place. */
const IS_NUMBER = [false, true, true, false, true, true];

export function healthTable(rows: readonly HealthRow[]): string {
  const cells = [HEADS, ...rows.map(cellsOf)];
  const widths = HEADS.map((_, column) => Math.max(...cells.map((row) => (row[column] ?? '').length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => {
          const width = widths[column] ?? 0;
          return IS_NUMBER[column] ? cell.padStart(width) : cell.padEnd(width);
        })
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

/** What must differ for a table to be worth printing again: everything but the memory, which never rests. */
export function healthKey(rows: readonly HealthRow[]): string {
  return JSON.stringify(rows.map((row) => ({ ...row, rssBytes: null })));
}

function cellsOf({ name, pid, port, state, restarts, rssBytes }: HealthRow): readonly string[] {
  return [
    name,
    pid === 0 ? '-' : String(pid),
    port === null ? '-' : String(port),
    state,
    String(restarts),
    rssBytes === null ? '-' : `${Math.round(rssBytes / 1_048_576)} MiB`,
  ];
}
