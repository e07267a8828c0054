import { hash } from 'node:crypto';
import type { S3Client } from './s3-client.ts';
import { escapeXml, readXml } from './s3-xml.ts';

const END = '</LifecycleConfiguration>';

interface Rule {
  readonly id: string;
  readonly prefix: string;
  /** What the bucket does, as XML. */
  readonly action: string;
}

/**
 * Has the bucket remove uploads in parts that nobody finished, and what lies below `transitPrefix`, each after a day. A
 * bucket has one set of rules and setting it replaces it, so rules of others are kept as they are and ours are added once.
 */
export async function applyRules(client: S3Client, transitPrefix: string): Promise<void> {
  const { prefix } = client.place;
  // Installations that share a bucket have different prefixes, and need a rule each.
  const name = hash('sha256', transitPrefix, 'hex').slice(0, 12);
  const rules: readonly Rule[] = [
    {
      id: 'scrapifie-unfinished-uploads',
      prefix,
      action:
        '<AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation></AbortIncompleteMultipartUpload>',
    },
    {
      id: `scrapifie-transit-${name}`,
      prefix: transitPrefix,
      action: '<Expiration><Days>1</Days></Expiration>',
    },
  ];
  const found = await client.request({ method: 'GET', query: { lifecycle: '' }, expects: [404] });
  const text = found.status === 404 ? '' : found.body.toString('utf8');
  const known = new Set(readXml(text)?.all('Rule/ID'));
  const missing = rules.filter(({ id }) => !known.has(id));
  if (missing.length === 0) return;
  const added = missing.map(
    ({ id, prefix: below, action }) =>
      `<Rule><ID>${id}</ID><Filter><Prefix>${escapeXml(below)}</Prefix></Filter><Status>Enabled</Status>${action}</Rule>`,
  );
  const others = text.includes(END) ? text.slice(0, text.lastIndexOf(END)) : '<LifecycleConfiguration>';
  await client.request({
    method: 'PUT',
    query: { lifecycle: '' },
    body: Buffer.from(`${others}${added.join('')}${END}`),
  });
}
