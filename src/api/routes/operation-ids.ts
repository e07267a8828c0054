/** What generated clients call each operation. A name that was published is never changed. */
const OPERATION_IDS: Readonly<Record<string, string>> = {
  'POST /v1/scrape': 'scrape',
  'POST /v1/batch': 'startBatch',
  'POST /v1/crawl': 'startCrawl',
  'POST /v1/map': 'mapSite',
  'POST /v1/extract': 'extract',
  'GET /v1/jobs': 'listJobs',
  'GET /v1/jobs/:id': 'getJob',
  'DELETE /v1/jobs/:id': 'deleteJob',
  'POST /v1/jobs/:id/cancel': 'cancelJob',
  'POST /v1/jobs/:id/resume': 'resumeJob',
  'POST /v1/jobs/:id/retry': 'retryJob',
  'GET /v1/jobs/:id/results': 'listJobResults',
  'GET /v1/jobs/:id/errors': 'listJobErrors',
  'GET /v1/jobs/:id/urls': 'listJobUrls',
  'GET /v1/jobs/:id/why': 'explainJobUrl',
  'GET /v1/jobs/:id/events': 'streamJobEvents',
  'GET /v1/events': 'streamEvents',
  'POST /v1/jobs/:id/reextract': 'reextractJob',
  'GET /v1/jobs/:id/pages/:page/artifacts/:name': 'getArtifact',
  'POST /v1/sessions': 'createSession',
  'GET /v1/sessions': 'listSessions',
  'GET /v1/sessions/:name': 'getSession',
  'DELETE /v1/sessions/:name': 'deleteSession',
  'PUT /v1/credentials/:name': 'putCredential',
  'GET /v1/credentials': 'listCredentials',
  'DELETE /v1/credentials/:name': 'deleteCredential',
  'POST /v1/webhooks': 'createWebhook',
  'GET /v1/webhooks': 'listWebhooks',
  'GET /v1/webhooks/:id': 'getWebhook',
  'PATCH /v1/webhooks/:id': 'changeWebhook',
  'DELETE /v1/webhooks/:id': 'deleteWebhook',
  'POST /v1/webhooks/:id/rotate': 'rotateWebhookSecret',
  'POST /v1/webhooks/:id/test': 'testWebhook',
  'GET /v1/webhooks/:id/deliveries': 'listDeliveries',
  'GET /v1/deliveries/:id': 'getDelivery',
  'POST /v1/deliveries/:id/redeliver': 'redeliver',
  'GET /v1/proxies': 'getProxies',
  'GET /v1/domains': 'listDomains',
  'GET /v1/domains/:host': 'getDomain',
  'POST /v1/domains/:host/opt-out': 'addOptOut',
  'DELETE /v1/domains/:host/opt-out': 'removeOptOut',
  'POST /v1/owner-requests': 'createOwnerRequest',
  'GET /v1/owner-requests': 'listOwnerRequests',
  'GET /v1/owner-requests/:id': 'getOwnerRequest',
  'POST /v1/owner-requests/:id/check': 'checkOwnerRequest',
  'GET /v1/keys': 'listKeys',
  'POST /v1/keys': 'createKey',
  'DELETE /v1/keys/:id': 'revokeKey',
  'POST /v1/keys/:id/rotate': 'rotateKey',
  'GET /v1/account': 'getAccount',
  'GET /v1/accounts': 'listAccounts',
  'POST /v1/accounts': 'createAccount',
  'GET /v1/accounts/:id': 'getAccountById',
  'PATCH /v1/accounts/:id': 'changeAccount',
  'POST /v1/accounts/:id/disable': 'disableAccount',
  'POST /v1/accounts/:id/enable': 'enableAccount',
  'DELETE /v1/accounts/:id': 'deleteAccount',
  'PUT /v1/accounts/:id/retention': 'setRetentionOfAccount',
  'GET /v1/account/retention': 'getRetention',
  'PUT /v1/account/retention': 'setRetention',
  'GET /v1/audit': 'listAudit',
  'GET /healthz': 'getHealth',
  'GET /readyz': 'getReadiness',
  'GET /metrics': 'getMetrics',
};

/** The operation's name; of a route without one in the list, a name made of its method and path. */
export function operationIdOf(method: string, path: string): string {
  return OPERATION_IDS[`${method} ${path}`] ?? madeUpId(method, path);
}

function madeUpId(method: string, path: string): string {
  const words = path
    .replace(/^\/v\d+/, '')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '');
  return [method.toLowerCase(), ...words.map((word) => word.slice(0, 1).toUpperCase() + word.slice(1))].join(
    '',
  );
}
