import { contract, type Skip } from './contract.ts';
import { accountDeletionContract } from './store/account-deletion-contract.ts';
import { accountRecordsContract } from './store/account-records-contract.ts';
import { accountsContract } from './store/accounts-contract.ts';
import { answersContract } from './store/answers-contract.ts';
import { auditContract } from './store/audit-contract.ts';
import { budgetsContract } from './store/budgets-contract.ts';
import { claimsContract } from './store/claims-contract.ts';
import { credentialsContract } from './store/credentials-contract.ts';
import { creditPropertiesContract } from './store/credit-properties-contract.ts';
import { creditsContract } from './store/credits-contract.ts';
import { eventsContract } from './store/events-contract.ts';
import { exportsContract } from './store/exports-contract.ts';
import { hostileContract } from './store/hostile-contract.ts';
import { hostsContract } from './store/hosts-contract.ts';
import { incarnationContract, type OpenedStore } from './store/incarnation-contract.ts';
import { interruptionsContract } from './store/interruptions-contract.ts';
import { jobsContract } from './store/jobs-contract.ts';
import { lakeContract } from './store/lake-contract.ts';
import { ledgerContract } from './store/ledger-contract.ts';
import { lifeContract } from './store/life-contract.ts';
import { modelContract } from './store/model-contract.ts';
import { monitorsContract } from './store/monitors-contract.ts';
import { optOutContract } from './store/opt-out-contract.ts';
import { ownerRequestsContract } from './store/owner-requests-contract.ts';
import { pagingContract } from './store/paging-contract.ts';
import { placesContract } from './store/places-contract.ts';
import { propertiesContract } from './store/properties-contract.ts';
import { queriesContract } from './store/queries-contract.ts';
import { readersContract } from './store/readers-contract.ts';
import { referencesContract } from './store/references-contract.ts';
import { retentionContract } from './store/retention-contract.ts';
import { schedulesContract } from './store/schedules-contract.ts';
import { searchPagesContract } from './store/search-pages-contract.ts';
import { secretsContract } from './store/secrets-contract.ts';
import { sessionsContract } from './store/sessions-contract.ts';
import { sitesContract } from './store/sites-contract.ts';
import { snapshotsContract } from './store/snapshots-contract.ts';
import { sourcesContract } from './store/sources-contract.ts';
import { storedPagesContract } from './store/stored-pages-contract.ts';
import { survivalContract } from './store/survival-contract.ts';
import type { TimedStore } from './store/timed-store.ts';
import { usageContract } from './store/usage-contract.ts';
import { waitsContract } from './store/waits-contract.ts';
import { webhooksContract } from './store/webhooks-contract.ts';

/** What every store must hold. `open` gives a migrated, empty store. */
export function storeContract(
  name: string,
  open: () => Promise<OpenedStore>,
  skips: readonly Skip[] = [],
): void {
  contract<TimedStore>(`store: ${name}`, open, skips, (holds) => {
    jobsContract(holds);
    pagingContract(holds);
    sourcesContract(holds);
    eventsContract(holds);
    readersContract(holds);
    snapshotsContract(holds);
    lakeContract(holds);
    hostsContract(holds);
    claimsContract(holds);
    placesContract(holds);
    ledgerContract(holds);
    lifeContract(holds);
    budgetsContract(holds);
    storedPagesContract(holds);
    sitesContract(holds);
    optOutContract(holds);
    ownerRequestsContract(holds);
    accountsContract(holds);
    accountRecordsContract(holds);
    auditContract(holds);
    sessionsContract(holds);
    credentialsContract(holds);
    secretsContract(holds);
    webhooksContract(holds);
    schedulesContract(holds);
    exportsContract(holds);
    queriesContract(holds);
    monitorsContract(holds);
    searchPagesContract(holds);
    hostileContract(holds);
    referencesContract(holds);
    retentionContract(holds);
    accountDeletionContract(holds);
    answersContract(holds);
    survivalContract(holds);
    incarnationContract(holds);
    interruptionsContract(holds);
    waitsContract(holds);
    creditsContract(holds);
    usageContract(holds);
    creditPropertiesContract(holds);
    propertiesContract(holds);
    modelContract(holds);
  });
}
