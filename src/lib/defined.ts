/** An object type with the keys that may be undefined made optional. */
type Defined<T> = { [Key in keyof T as undefined extends T[Key] ? never : Key]: T[Key] } & {
  [Key in keyof T as undefined extends T[Key] ? Key : never]?: Exclude<T[Key], undefined>;
};

/**
 * Returns a copy without the keys whose value is undefined. With `exactOptionalPropertyTypes` an optional key may be
 * missing, but not undefined, so `{ ...defined({ port, path }) }` gives an object only the keys that have a value.
 */
export function defined<T extends object>(values: T): Defined<T> {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(values)) if (value !== undefined) kept[key] = value;
  return kept as Defined<T>;
}
