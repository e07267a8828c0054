// Starts a crawl and ends: the server does the work. Run by the CronJobs of the chart, which give it the file with the request.
// The same Idempotency-Key gets the same answer, so a pod that is tried again starts no second crawl.
import { readFileSync } from 'node:fs';

const { SCRAPIFIE_API_URL, SCRAPIFIE_API_KEY, IDEMPOTENCY_KEY } = process.env;
const response = await fetch(`${SCRAPIFIE_API_URL}/v1/crawl`, {
  method: 'POST',
  headers: {
    authorization: `Bearer ${SCRAPIFIE_API_KEY}`,
    'content-type': 'application/json',
    'idempotency-key': `crawl:${IDEMPOTENCY_KEY}`,
  },
  body: readFileSync(process.argv[2] ?? '', 'utf8'),
  signal: AbortSignal.timeout(60_000),
});
console.log(await response.text());
process.exitCode = response.ok ? 0 : 1;
