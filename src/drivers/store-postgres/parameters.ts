import type { HostKey } from '../../core/model/ids.ts';
import { PROVISIONAL_REASONS } from '../../core/model/reasons.ts';
import type { NewTask } from '../../core/model/task.ts';

/**
 * PostgreSQL stores no U+0000 in text, and no half of a surrogate pair. A page may hold either and must not keep a
 * batch from being written.
 */
export function storableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text;
}

/** How JSON writes what PostgreSQL would refuse; also found behind an escaped backslash, which does no harm. */
const SUSPECT = /\\u(?:0000|d[89a-f])/;

export function jsonParameter(value: unknown): string {
  const text = JSON.stringify(value);
  return SUSPECT.test(text) ? JSON.stringify(value, storable) : text;
}

/** A parameter of JSON that is text already. */
export const storableJson = (text: string): string =>
  SUSPECT.test(text) ? JSON.stringify(JSON.parse(text), storable) : storableText(text);

function storable(_key: string, value: unknown): unknown {
  if (typeof value === 'string') return storableText(value.toWellFormed());
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, each]) => [storableText(key.toWellFormed()), each]),
  );
}

export const PROVISIONAL: readonly string[] = [...PROVISIONAL_REASONS];

/** New tasks as `add_tasks` reads them. */
interface FoundTasks {
  /** `by`, from 1, says where in a list of jobs the task's own stands. */
  add(by: number, task: NewTask): void;
  readonly json: string;
  readonly hosts: readonly HostKey[];
  /** A host that is needed for something else than a new task. */
  addHost(key: HostKey): void;
}

export function createFoundTasks(): FoundTasks {
  const hosts = new Set<HostKey>();
  const rows: unknown[] = [];
  return {
    add(by, task) {
      hosts.add(task.hostKey);
      rows.push({
        ord: rows.length,
        by,
        kind: task.kind,
        url: task.url,
        url_key: task.urlKey,
        host: task.hostKey,
        depth: task.depth,
        found_by: task.foundBy,
        found_on: task.foundOn,
        state: task.state,
        rule: task.rule,
      });
    },
    addHost: (key) => void hosts.add(key),
    get json() {
      return jsonParameter(rows);
    },
    get hosts() {
      return [...hosts];
    },
  };
}
