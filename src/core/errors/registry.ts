/**
 * The one registry of error codes. An error states policy, not place: whether trying again can help
 * (`retry`), what an HTTP client is told (`httpStatus`) and how a command ends (`exitCode`).
 *
 * `never`    the same request will fail again
 * `later`    the same request may work after a pause
 * `otherWay` another engine, proxy or identity may work
 */
export type RetryPolicy = 'never' | 'later' | 'otherWay';

export interface ErrorSpec {
  readonly httpStatus: number;
  readonly retry: RetryPolicy;
  readonly exitCode: number;
  /** The failure is on this side: attempts and tasks that end with it cost no credits. */
  readonly isOurs?: true;
  /** One sentence for docs/errors.md: what happened and what to do. */
  readonly meaning: string;
}

/** Exit codes of the command line; documented in docs/errors.md. */
export const EXIT = {
  ok: 0,
  unexpected: 1,
  usage: 2,
  partial: 3,
  failed: 4,
  environment: 5,
  /** Nothing failed: `diff` found changes. */
  changed: 10,
  interrupted: 130,
} as const;

const usage = (httpStatus: number, meaning: string): ErrorSpec => ({
  httpStatus,
  retry: 'never',
  exitCode: EXIT.usage,
  meaning,
});
const environment = (retry: RetryPolicy, meaning: string): ErrorSpec => ({
  httpStatus: 503,
  retry,
  exitCode: EXIT.environment,
  isOurs: true,
  meaning,
});
const page = (httpStatus: number, retry: RetryPolicy, meaning: string): ErrorSpec => ({
  httpStatus,
  retry,
  exitCode: EXIT.failed,
  meaning,
});

/** A failure of a page that lies on this side. */
const own = (httpStatus: number, retry: RetryPolicy, meaning: string): ErrorSpec => ({
  ...page(httpStatus, retry, meaning),
  isOurs: true,
});

export const ERRORS = {
  // What a caller got wrong
  VALIDATION_FAILED: usage(422, 'A field of the request is wrong; `details` has one entry per bad field.'),
  SECRETS_BOUND: usage(
    422,
    'A change would send hidden values to an origin that they were not given for; `details` names the fields to give anew.',
  ),
  BAD_REQUEST: usage(
    400,
    'The request is not valid HTTP; the status is 408, 417 or 431 where HTTP has one for the fault.',
  ),
  MALFORMED_JSON: usage(400, 'The request body is not valid JSON.'),
  INVALID_URL: usage(422, 'Not an absolute http or https URL that can be fetched.'),
  UNSUPPORTED_OPTION: usage(
    422,
    'This installation or the chosen engine cannot honour the option; the message says why.',
  ),
  QUERY_TOO_LARGE: usage(
    422,
    'A query would read more, or answer with more, than one query may; narrow it, by the job or the time for example.',
  ),
  QUERY_TIMEOUT: usage(
    422,
    'A query took longer than a query may; narrow it, by the job or the time for example.',
  ),
  QUERY_REFUSED: usage(
    422,
    'The SQL uses something that a query must not, such as a file, another table or a statement that is no SELECT.',
  ),
  QUERY_FAILED: usage(422, 'The SQL is wrong, or failed while it ran; the message is that of DuckDB.'),
  INVALID_USAGE: usage(400, 'The command line has an unknown command, option or value.'),
  UNAUTHENTICATED: usage(401, 'No API key was sent, or it is unknown, expired or revoked.'),
  FORBIDDEN: usage(403, 'The API key lacks the scope that this call needs.'),
  CROSS_SITE: usage(
    403,
    'A request that relies on the sign-in of a browser did not come from the dashboard of this server, or a page of an origin that SCRAPIFIE_CORS_ORIGINS does not name opened a stream; programs send an API key and no Origin.',
  ),
  ACCOUNT_DISABLED: usage(403, 'The account of the key is disabled; ask the operator of the installation.'),
  STORAGE_LIMIT: usage(
    403,
    'The account stores as many bytes as it may; delete jobs, or ask the operator of the installation for more.',
  ),
  CONSENT_REQUIRED: usage(403, "The operator's policy does not name this domain for what was asked."),
  CREDITS_EXHAUSTED: usage(
    402,
    'The account cannot pay for one page of the request; `details` has what it has and what a page may cost, or the job that stopped.',
  ),
  NOT_FOUND: usage(404, 'No such resource for this account.'),
  SESSION_EXPIRED: usage(410, 'The session has ended; delete it, or use another name.'),
  EXPIRED: usage(410, 'It was deleted because the time that it is kept was over; see docs/retention.md.'),
  METHOD_NOT_ALLOWED: usage(405, 'The path exists, but not with this method.'),
  CONFLICT: usage(409, 'The resource is in a state that does not allow this.'),
  IDEMPOTENCY_MISMATCH: usage(409, 'The Idempotency-Key was used before with another request.'),
  RANGE_NOT_SATISFIABLE: usage(416, 'The file has no bytes in the range that was asked for.'),
  BAD_ARCHIVE: usage(
    422,
    'The file is no WARC or WACZ file, is damaged, or holds more than it may; the message says what and where.',
  ),
  BODY_TOO_LARGE: usage(
    413,
    'The request body is larger than this server accepts, or than a request without a key may have.',
  ),
  BODY_TOO_SLOW: usage(408, 'The request body came so slowly that the connection was closed.'),
  UNSUPPORTED_MEDIA_TYPE: usage(415, 'The request body must be application/json.'),

  // What the caller should send again later
  RATE_LIMITED: {
    httpStatus: 429,
    retry: 'later',
    exitCode: EXIT.failed,
    meaning:
      'This key sends too many requests, or this address too many wrong keys; `Retry-After` says when to go on.',
  },
  QUEUE_FULL: {
    httpStatus: 429,
    retry: 'later',
    exitCode: EXIT.failed,
    meaning: 'Too many URLs are waiting already; nothing was accepted.',
  },
  TOO_MANY_STREAMS: {
    httpStatus: 429,
    retry: 'later',
    exitCode: EXIT.failed,
    meaning: 'As many streams of live events as allowed are open, of this account or of this server.',
  },
  TOO_MANY_QUERIES: {
    httpStatus: 429,
    retry: 'later',
    exitCode: EXIT.failed,
    meaning: 'As many queries as may run and wait at once do so already, of this account or of this server.',
  },
  TOO_MANY_EXPORTS: {
    httpStatus: 429,
    retry: 'later',
    exitCode: EXIT.failed,
    meaning: 'As many exports of this account as allowed wait or are being written; nothing was accepted.',
  },
  OVERLOADED: environment(
    'later',
    'This server has more to do than it can: too much of what it has answered is still unread by its clients, too many bytes of request bodies have arrived without their ends, or a thread does not start.',
  ),
  SHUTTING_DOWN: environment('later', 'The server is stopping and takes no new work.'),
  REQUEST_TIMEOUT: {
    httpStatus: 504,
    retry: 'later',
    exitCode: EXIT.failed,
    meaning:
      'Not ready within `timeoutMs`; the job goes on, its id is in `details`. A wait known to be longer is answered at once with its code.',
  },
  INTERNAL: {
    httpStatus: 500,
    retry: 'later',
    exitCode: EXIT.unexpected,
    isOurs: true,
    meaning: 'A fault in Scrapifie; the log has it under the request id.',
  },

  // Faults of this installation
  INVALID_SETTINGS: environment('never', 'One or more settings are wrong; every problem is listed.'),
  INVALID_POLICY: environment(
    'never',
    'The policy file cannot be read or has wrong entries; each is listed with its line.',
  ),
  QUERY_UNAVAILABLE: environment(
    'never',
    'SQL needs DuckDB, which is not installed beside Scrapifie: `npm install @duckdb/node-api`.',
  ),
  DATA_DIR_UNUSABLE: environment('never', 'The data folder cannot be created, read or written.'),
  DATA_DIR_LOCKED: environment('later', 'Another Scrapifie process works in this data folder.'),
  AUDIT_LOG_BROKEN: environment(
    'never',
    'The audit log was changed outside of Scrapifie, or is damaged; the message names the first entry that is wrong.',
  ),
  DATABASE_CORRUPT: environment(
    'never',
    'The database is damaged, or missing beside other files of its installation; nothing was changed. The message says what to do.',
  ),
  BACKUP_DAMAGED: environment(
    'never',
    'The backup is damaged, cut off or no backup; nothing was restored. Take another one.',
  ),
  PLACE_NOT_EMPTY: environment(
    'never',
    'A backup is only restored, and an installation only moved, to a place where nothing is yet.',
  ),
  STORE_IN_USE: environment(
    'later',
    'Processes are connected to a database that must not change at the moment; stop them first.',
  ),
  SCHEMA_TOO_NEW: environment('never', 'The database was written by a newer Scrapifie; upgrade the program.'),
  DISK_FULL: environment(
    'later',
    'No space is left in the data folder, or in the object store and beside it; accepted work waits until there is.',
  ),
  OUT_OF_FILES: environment(
    'later',
    'The process has as many files and connections open as its limit allows; docs/operations.md says how to raise it.',
  ),
  STORE_UNAVAILABLE: environment(
    'later',
    'The store did not answer, or its files are gone; the request was not carried out.',
  ),
  STORE_REFUSED: environment(
    'later',
    'The database server refuses the login, the database or rights: fatal at the start, later pages are held.',
  ),
  QUEUE_UNAVAILABLE: environment(
    'later',
    'Redis did not answer, or refused what it was asked; accepted work waits in the store.',
  ),
  QUEUE_REFUSED: environment('never', 'Redis refuses the login or the database number.'),
  QUEUE_UNSAFE: environment(
    'never',
    'Redis is set up to throw keys away when its memory is full; set maxmemory-policy to noeviction.',
  ),
  BLOBS_UNAVAILABLE: environment(
    'later',
    'The object store did not answer; bodies are kept elsewhere until it does.',
  ),
  BLOBS_REFUSED: environment('never', 'The object store refuses the keys or has no such bucket.'),
  INVALID_PROXY_FILE: environment(
    'never',
    'The proxy file cannot be read or has wrong entries; each is listed with its line.',
  ),
  NO_BROWSER: {
    httpStatus: 503,
    retry: 'never',
    exitCode: EXIT.environment,
    isOurs: true,
    meaning: 'No Chromium, Chrome or Edge was found here; `scrapifie doctor` says how to get one.',
  },
  BROWSER_UNCONFINED: {
    httpStatus: 503,
    retry: 'never',
    exitCode: EXIT.environment,
    isOurs: true,
    meaning:
      'There is a browser, and this machine gives it no confinement; the message says why, and how to allow it or to render without.',
  },
  SEARCH_UNAVAILABLE: environment(
    'later',
    'The search engine of SCRAPIFIE_SEARXNG_URL did not answer, or not with results.',
  ),
  OIDC_UNAVAILABLE: environment('later', 'The issuer of the bearer tokens did not answer.'),
  CREDENTIALS_UNAVAILABLE: environment('later', 'The credential service did not answer.'),
  API_UNREACHABLE: environment(
    'later',
    'No Scrapifie server answers at the address of `--api` or SCRAPIFIE_API_URL.',
  ),
  PORT_IN_USE: environment('never', 'Another program listens on this port.'),
  LISTEN_FAILED: environment('never', 'The server cannot listen on this address.'),

  // Why a URL was not fetched
  ADDRESS_REFUSED: page(
    403,
    'never',
    'The host resolves to a private, loopback, link-local or metadata address, which this installation does not fetch.',
  ),
  ROBOTS_DISALLOWED: page(403, 'never', "The site's robots.txt does not allow this URL."),
  ROBOTS_UNREACHABLE: page(
    502,
    'later',
    'robots.txt could not be read (5xx or network failure), which means the whole host is off limits for now.',
  ),
  DOMAIN_DENIED: page(
    403,
    'never',
    'Policy, the do-not-crawl list or the site owner’s opt-out excludes this host.',
  ),
  NO_WORKER: environment(
    'later',
    'No worker for this engine answers. The URL waits for one and is not charged an attempt; what plain HTTP can do goes on.',
  ),
  BROWSER_UNAVAILABLE: own(
    503,
    'later',
    'No browser can be had at the moment: it did not start, or answers no more.',
  ),
  BROWSERS_BUSY: environment(
    'later',
    'No browser was free to render the page within `SCRAPIFIE_BROWSER_WAIT_MS`; the URL is not charged an attempt.',
  ),
  NO_HEALTHY_PROXY: own(
    503,
    'later',
    'Every proxy that fits the request has failed, is banned by the host or is missing.',
  ),
  OUTSIDE_HOURS: page(503, 'later', 'Policy allows this host only in certain hours.'),
  CIRCUIT_OPEN: page(503, 'later', 'The host failed too often; it is left alone for a while.'),
  NOT_IN_ARCHIVE: page(
    404,
    'never',
    'The archive that is replayed does not have this URL, or not what was asked of it.',
  ),
  BUDGET_SPENT: page(402, 'never', 'A budget of the job is spent.'),
  CANCELLED: page(409, 'never', 'The job was cancelled before this URL was fetched.'),

  // How a fetch ended
  DNS_FAILED: page(502, 'later', 'The host name does not resolve.'),
  CONNECT_FAILED: page(502, 'later', 'No connection to the host could be made.'),
  TLS_FAILED: page(502, 'later', 'The TLS handshake failed or the certificate is not trusted.'),
  CONNECTION_RESET: page(502, 'later', 'The host closed the connection before the response was complete.'),
  HEADERS_TIMEOUT: page(504, 'later', 'The host accepted the request but sent no response headers in time.'),
  BODY_TIMEOUT: page(504, 'later', 'The response body stalled or took too long.'),
  TASK_TIMEOUT: page(
    504,
    'later',
    'The attempt, redirects included, took longer than `timeoutMs`, or all attempts and pauses longer than `taskTimeoutMs`.',
  ),
  BODY_LIMIT_EXCEEDED: page(502, 'never', 'The response body is larger than the limit after decompression.'),
  HEADERS_LIMIT_EXCEEDED: page(502, 'never', 'The response headers are larger than the limit.'),
  RESPONSE_FLOOD: page(502, 'never', 'The host sends frames without end that hold no content.'),
  BAD_ENCODING: page(502, 'later', 'The body does not decode as its Content-Encoding says.'),
  PROTOCOL_ERROR: page(
    502,
    'later',
    'The response breaks the HTTP protocol in a way that could be read differently; `auto` goes on to a browser.',
  ),
  TOO_MANY_REDIRECTS: page(502, 'never', 'More redirects than allowed.'),
  REDIRECT_LOOP: page(502, 'never', 'The redirects lead back to a URL already visited.'),
  BAD_REDIRECT: page(502, 'never', 'A redirect without a usable http or https location.'),
  HTTP_ERROR: page(502, 'never', 'The host answered with a 4xx or 5xx status; the page has it.'),
  HOST_RATE_LIMITED: page(
    503,
    'later',
    'The host answered 429 or 503; its rate was halved and `Retry-After` obeyed.',
  ),
  BLOCKED: page(502, 'otherWay', 'The host shows a block page instead of the content.'),
  CAPTCHA: page(502, 'otherWay', 'The host shows a challenge instead of the content.'),
  LOGIN_FAILED: page(
    422,
    'never',
    'The session is not logged in: no log-in form was found, the site shows it again, or it kept nothing; the message says which.',
  ),
  LOGIN_REQUIRED: page(
    401,
    'never',
    'The page asks to log in although the crawl has a session: log in again (`scrapifie login`, or `POST /v1/sessions/NAME/login`), then resume.',
  ),
  PROXY_FAILED: own(502, 'later', 'The proxy was not reached, kept silent or refused the login.'),
  BROWSER_CRASHED: own(502, 'later', 'The process of the page ended while the page was rendered.'),
  BROWSER_LOST: own(
    503,
    'later',
    'The browser ended or stopped answering and is replaced; the URL is tried again, the first three times without being charged an attempt.',
  ),
  ACTION_FAILED: page(
    422,
    'never',
    'A wait, an action or a picture failed; `details.step` names it and what there was is kept.',
  ),
  CAPTCHA_UNSOLVED: own(502, 'later', 'No solver service solved the challenge; the message says why.'),
  EXPORT_FAILED: own(500, 'later', 'The file of an export could not be written; the message says why.'),
  EXTRACTION_FAILED: own(
    502,
    'never',
    'The page arrived, but reading it failed or took too long. The body of a fetched page is kept all the same (rawHtml).',
  ),
  PLUGIN_FAILED: own(
    502,
    'otherWay',
    'The code of a plug-in, or of a hook of the library, threw an error; the message has its words. Correct that code.',
  ),
  WORKER_DIED: own(
    502,
    'never',
    'Processes died while they worked on this URL, twice with nothing else under way. Retry the job when the cause is removed.',
  ),
  UNSTORABLE: own(
    422,
    'never',
    'The store cannot keep what was sent, or what the page brought; the log says why.',
  ),
} as const satisfies Record<string, ErrorSpec>;

export type ErrorCode = keyof typeof ERRORS;
