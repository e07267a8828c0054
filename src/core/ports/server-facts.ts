/** What is known of a PostgreSQL server by looking at it. */
export interface PostgresFacts {
  readonly version: string;
  readonly majorVersion: number;
  /** 0: there is none yet. */
  readonly schemaVersion: number;
  /** The oldest program that may work with the schema, as the number of the newest schema that it knows. */
  readonly minReader: number;
  /** The schema of this program. */
  readonly newestSchema: number;
  readonly canCreateTables: boolean;
  readonly isReadOnly: boolean;
  readonly encoding: string;
  /** Connections that may still be opened, by the limits of the server, the database and the user. */
  readonly freeConnections: number;
  readonly mostConnections: number;
  /** By how much the clock of the server is ahead of this machine's. */
  readonly aheadMs: number;
}

/** What is known of a Redis server by looking at it. */
export interface RedisFacts {
  readonly address: string;
  readonly version: string;
  /** How the server runs: `standalone` or `cluster`. */
  readonly mode: string;
  readonly isReplica: boolean;
  /** The `maxmemory` setting of the server; 0 means that it has no limit. */
  readonly mostMemoryBytes: number;
  readonly usedMemoryBytes: number;
  readonly evictionPolicy: string;
  readonly isPersistent: boolean;
  readonly freeConnections: number;
}

/** What is known of a bucket by using it. */
export interface BucketFacts {
  readonly endpoint: string;
  readonly bucket: string;
  readonly prefix: string;
  /** Whether the bucket has the rules that remove what was left behind; null: this may not be looked at. */
  readonly hasLifecycleRules: boolean | null;
  /** By how much the clock of the object store is ahead of this machine's; null when it did not say. */
  readonly aheadMs: number | null;
}
