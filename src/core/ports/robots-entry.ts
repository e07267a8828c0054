/** What is stored of the robots.txt of an origin. */
export interface RobotsEntry {
  readonly origin: string;
  /** ok: `body` has the rules. absent: everything is allowed (4xx). unreachable: nothing is (5xx, network). */
  readonly status: 'ok' | 'absent' | 'unreachable';
  readonly body: string;
  readonly fetchedAt: number;
  readonly expiresAt: number;
  readonly reason: string;
  /**
   * How often a process recorded that it asks for the file and died before it had stored the answer. Only processes whose
   * tasks were interrupted on the host record it.
   */
  readonly interruptions: number;
}
