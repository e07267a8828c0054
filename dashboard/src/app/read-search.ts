type Raw = Record<string, unknown>;

/**
 * Reads the parameters of an address, for `validateSearch` of a route. The router hands on what a route does not read, as
 * it was typed, and even what a route has refused; here nothing comes through but what `read` returns.
 */
export const readOnly =
  <T extends object>(read: (raw: Raw) => T) =>
  (raw: Raw): T => ({
    ...Object.fromEntries(Object.keys(raw).map((name) => [name, undefined])),
    ...read(raw),
  });
