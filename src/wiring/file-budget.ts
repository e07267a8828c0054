import { budgetFiles, openFileLimit, RAISE_OPEN_FILES } from '../core/config/open-files.ts';
import type { Settings } from '../core/config/settings.ts';
import type { Logger } from '../core/observe/logger.ts';

/** The settings with as many connections of clients and fetches as the process may have open at once. */
export function withinOpenFiles(settings: Settings, logger: Logger): Settings {
  const limit = openFileLimit();
  const { maxConnections, maxConcurrency, isShort } = budgetFiles(limit, settings);
  if (isShort) {
    const { maxConnections: connectionsWanted, maxConcurrency: fetchesWanted } = settings;
    const facts = { limit, maxConnections, connectionsWanted, maxConcurrency, fetchesWanted };
    logger.warn(
      facts,
      `the limit of open files is small: fewer connections and fetches at once. ${RAISE_OPEN_FILES}`,
    );
  }
  return { ...settings, maxConnections, maxConcurrency };
}
