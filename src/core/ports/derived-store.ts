import type { ExportStore } from './export-store.ts';
import type { LakeStore } from './lake-store.ts';
import type { LedgerViewStore } from './ledger-view-store.ts';
import type { MonitorStore } from './monitor-store.ts';
import type { QueryStore } from './query-store.ts';
import type { ReaderStore } from './reader-store.ts';
import type { SearchStore } from './search-store.ts';
import type { SnapshotStore } from './snapshot-store.ts';

/** The parts of the store for what is made of committed pages: by readers of events, and by questions about them. */
export interface DerivedStore
  extends ReaderStore,
    SnapshotStore,
    ExportStore,
    LakeStore,
    QueryStore,
    LedgerViewStore,
    SearchStore,
    MonitorStore {}
