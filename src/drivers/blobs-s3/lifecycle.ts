import type { S3Client } from './s3-client.ts';
import { escapeXml, readXml } from './s3-xml.ts';

const RULE_ID = 'scrapifie-unfinished-uploads';
const END = '</LifecycleConfiguration>';

/**
 * Has the bucket remove uploads in parts that nobody finished, a day after they began. A bucket has one set of rules
 * and setting it replaces it, so rules of others are kept as they are and ours is added once.
 */
export async function removeUnfinishedUploads(client: S3Client): Promise<void> {
  const found = await client.request({ method: 'GET', query: { lifecycle: '' }, expects: [404] });
  const text = found.status === 404 ? '' : found.body.toString('utf8');
  const rules = readXml(text);
  if (rules?.all('Rule/ID').includes(RULE_ID) === true) return;
  const rule =
    `<Rule><ID>${RULE_ID}</ID><Filter><Prefix>${escapeXml(client.place.prefix)}</Prefix></Filter>` +
    '<Status>Enabled</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>1</DaysAfterInitiation>' +
    '</AbortIncompleteMultipartUpload></Rule>';
  const others = text.includes(END) ? text.slice(0, text.lastIndexOf(END)) : '<LifecycleConfiguration>';
  await client.request({
    method: 'PUT',
    query: { lifecycle: '' },
    body: Buffer.from(`${others}${rule}${END}`),
  });
}
