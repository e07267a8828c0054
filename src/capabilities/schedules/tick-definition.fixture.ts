/** All lines of these tests and all changes of clocks fall on quarters of an hour. */
const STEP_MS = 900_000;

/**
 * The ticks from `from` to before `to` that the definition gives, found by walking the local calendar quarter by quarter,
 * without the search of the program: a local time is a tick at the first instant at which the clock has reached it.
 */
export function ticksByDefinition(
  zone: string,
  [from, to]: readonly [number, number],
  isNamed: (hour: number, minute: number) => boolean,
): number[] {
  const ticks: number[] = [];
  const shown = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short', timeStyle: 'short' });
  const localOf = (instant: number) => Date.parse(`${shown.format(instant).replace(' ', 'T')}:00Z`);
  let latest = localOf(from - STEP_MS);
  for (let instant = from; instant < to; instant += STEP_MS) {
    const local = localOf(instant);
    // All local times since the last step: several where the clock jumped, none that is new where it went back.
    for (; latest < local; latest += STEP_MS) {
      const named = new Date(latest + STEP_MS);
      if (isNamed(named.getUTCHours(), named.getUTCMinutes()) && ticks.at(-1) !== instant)
        ticks.push(instant);
    }
  }
  return ticks;
}
