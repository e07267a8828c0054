import type { FastifyInstance } from 'fastify';
import { addressTest, isLoopback } from '../../../core/config/field-types.ts';
import type { Settings } from '../../../core/config/settings.ts';
import type { Metrics } from '../../../core/observe/metrics.ts';
import { cannotListen } from '../../server/cannot-listen.ts';
import { listenAlso, type SecondListener } from '../../server/second-listener.ts';
import { FIRECRAWL_PREFIX } from './firecrawl-api.ts';
import { isWatchPath } from './watch-job.ts';

const LISTEN_BACKLOG = 1_024;

/**
 * Serves the Firecrawl API at the root of the port of the settings: some clients drop every path of the address that they are
 * given. Null without the setting.
 */
export async function listenFirecrawl(
  api: FastifyInstance,
  settings: Settings,
  metrics: Pick<Metrics, 'connectionClosed'>,
): Promise<SecondListener | null> {
  const { host, firecrawlPort: port, maxConnections, maxConnectionsPerAddress, trustedProxies } = settings;
  if (port === undefined) return null;
  const isProxy = addressTest(trustedProxies);
  try {
    return await listenAlso(api, {
      host,
      port,
      backlog: LISTEN_BACKLOG,
      prefix: FIRECRAWL_PREFIX,
      upgrades: isWatchPath,
      connections: {
        max: maxConnections,
        maxPerAddress: maxConnectionsPerAddress,
        isProxy: (address) => isLoopback(address) || isProxy(address),
        onClosed: (why) => metrics.connectionClosed(why),
      },
    });
  } catch (error) {
    throw cannotListen(error, { host, port, other: 'SCRAPIFIE_FIRECRAWL_PORT' });
  }
}
