import type { ExportStore } from '../../core/ports/export-store.ts';
import type { MonitorStore } from '../../core/ports/monitor-store.ts';
import type { OwnerRequestStore } from '../../core/ports/owner-request-store.ts';
import type { ScheduleStore } from '../../core/ports/schedule-store.ts';
import type { SearchStore } from '../../core/ports/search-store.ts';
import type { SecretStore } from '../../core/ports/secret-store.ts';
import type { SessionStore } from '../../core/ports/session-store.ts';
import type { SignInStore } from '../../core/ports/sign-in-store.ts';
import type { SiteStore } from '../../core/ports/site-store.ts';
import { exportStore } from './exports.ts';
import type { Method, Methods } from './methods.ts';
import { monitorStore } from './monitors.ts';
import { ownerRequestStore } from './owner-requests.ts';
import { retentionStore, type SharedRetentionStore } from './retention.ts';
import { scheduleStore } from './schedules.ts';
import { searchStore } from './search.ts';
import { secretStore } from './secrets.ts';
import { sessionStore } from './sessions.ts';
import { signInStore } from './sign-ins.ts';
import { siteStore } from './sites.ts';

/** The ports of what is asked less often than tasks are claimed. They are written once for both databases. */
export interface ColdStore
  extends ExportStore,
    MonitorStore,
    OwnerRequestStore,
    ScheduleStore,
    SearchStore,
    SecretStore,
    SessionStore,
    SharedRetentionStore,
    SignInStore,
    SiteStore {}

export const coldStore: Methods<ColdStore> = {
  ...exportStore,
  ...monitorStore,
  ...ownerRequestStore,
  ...retentionStore,
  ...scheduleStore,
  ...searchStore,
  ...secretStore,
  ...sessionStore,
  ...signInStore,
  ...siteStore,
};

/** Returns the names of the methods that are declared so. */
export const coldMethods = (isMeant: (method: Method) => boolean): readonly string[] =>
  Object.entries<Method>(coldStore)
    .filter(([, method]) => isMeant(method))
    .map(([name]) => name);
