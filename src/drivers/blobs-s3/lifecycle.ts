import { hash } from 'node:crypto';
import type { LifecycleRule } from '@aws-sdk/client-s3';
import { defined } from '../../lib/defined.ts';
import { isRefused, type S3Bucket } from './s3-bucket.ts';

/**
 * Has the bucket remove uploads in parts that were never finished, and all objects below `transitPrefix`, each after a
 * day. A bucket has one set of rules and setting it replaces it, so rules of others are kept and ours are added once.
 */
export async function applyRules(bucket: S3Bucket, transitPrefix: string): Promise<void> {
  const { commands, place } = bucket;
  const Bucket = place.bucket;
  const { others, least, missing } = await lookAtRules(bucket, transitPrefix);
  if (missing.length === 0) return;
  await bucket.ask((client, options) =>
    client.send(
      new commands.PutBucketLifecycleConfigurationCommand({
        Bucket,
        LifecycleConfiguration: { Rules: [...others, ...missing] },
        ...defined({ TransitionDefaultMinimumObjectSize: least }),
      }),
      options,
    ),
  );
}

/** Whether the bucket has these rules. */
export async function hasRules(bucket: S3Bucket, transitPrefix: string): Promise<boolean> {
  return (await lookAtRules(bucket, transitPrefix)).missing.length === 0;
}

async function lookAtRules(bucket: S3Bucket, transitPrefix: string) {
  const { commands, place } = bucket;
  // Installations that share a bucket have different prefixes, and need a rule each.
  const name = hash('sha256', transitPrefix, 'hex').slice(0, 12);
  const rules: readonly LifecycleRule[] = [
    {
      ID: 'scrapifie-unfinished-uploads',
      Filter: { Prefix: place.prefix },
      Status: 'Enabled',
      AbortIncompleteMultipartUpload: { DaysAfterInitiation: 1 },
    },
    {
      ID: `scrapifie-transit-${name}`,
      Filter: { Prefix: transitPrefix },
      Status: 'Enabled',
      Expiration: { Days: 1 },
    },
  ];
  const found = await bucket.ask(
    (client, options) =>
      client.send(new commands.GetBucketLifecycleConfigurationCommand({ Bucket: place.bucket }), options),
    { expects: [404] },
  );
  const others = isRefused(found) ? [] : (found.Rules ?? []);
  const least = isRefused(found) ? undefined : found.TransitionDefaultMinimumObjectSize;
  return { others, least, missing: rules.filter(({ ID }) => !others.some((rule) => rule.ID === ID)) };
}
