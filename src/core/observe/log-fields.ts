/** What a line of the log may have under a name that means the same in every line. */
export interface LogField {
  readonly name: string;
  readonly type: 'string' | 'number' | 'object';
  /** Whether every line has it. */
  readonly isAlways: boolean;
  readonly meaning: string;
}

const always = (name: string, meaning: string): LogField => ({
  ...{ name, type: 'string', isAlways: true, meaning },
});
const sometimes = (name: string, meaning: string, type: LogField['type'] = 'string'): LogField => ({
  ...{ name, type, isAlways: false, meaning },
});

/** The schema of the log; docs/logs.md has it as a table. Other fields belong to single lines. */
export const LOG_FIELDS: readonly LogField[] = [
  always('level', '`trace`, `debug`, `info`, `warn`, `error` or `fatal`.'),
  always('time', 'When, in UTC: ISO 8601 with milliseconds.'),
  always('service', 'Always `scrapifie`.'),
  always('role', 'Role of the process: `all`, `api`, `http-worker` and so on; see `SCRAPIFIE_ROLE`.'),
  always('instance', 'Host name and process id, `name:4711`.'),
  always('msg', 'What happened. The same event has the same text.'),
  sometimes('requestId', 'The request to the API; its response has it as `X-Request-ID`.'),
  sometimes('jobId', 'The job.'),
  sometimes('taskId', 'The URL within the job.', 'number'),
  sometimes('traceId', 'The trace, where traces are on.'),
  sometimes('spanId', 'The span within the trace.'),
  sometimes('accountId', 'The account.'),
  sometimes('webhookId', 'The webhook.'),
  sometimes('scheduleId', 'The schedule.'),
  sometimes('exportId', 'The export.'),
  sometimes('host', 'The site: its name, and its port where that is not the usual one.'),
  sometimes('err', 'An error: `type`, `message`, `stack`, and its `code`, `details` and `cause`.', 'object'),
];

/** Names that the logger itself fills in: a field of a line that has one of them gets an underscore behind it. */
export const OWN_FIELDS: readonly string[] = ['level', 'time', 'service', 'role', 'instance'];
