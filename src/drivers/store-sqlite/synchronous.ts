/** The same port without promises: how it looks inside the thread that owns the connection. */
export type Synchronous<T> = {
  [K in keyof T]: T[K] extends (...values: infer Values) => Promise<infer Result>
    ? (...values: Values) => Result
    : T[K];
};
