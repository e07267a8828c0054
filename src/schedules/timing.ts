/** When a schedule runs: by a cron line or at an interval, never both. */
export interface Timing {
  readonly cron: string | null;
  readonly everyMs: number | null;
  /** What an interval is counted from. */
  readonly anchorAt: number;
  /** IANA name: of the cron line and of the active hours. */
  readonly timeZone: string;
  /** Ticks outside of these hours are none. Null: there is no such limit. */
  readonly activeHours: ActiveHours | null;
}

/** A daily window; `from` after `to` runs over midnight. */
export interface ActiveHours {
  readonly from: string;
  readonly to: string;
  /** 0 = Sunday. Empty: every day. */
  readonly days: readonly number[];
}
