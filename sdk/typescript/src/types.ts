import type { Operations } from './api-types.ts';

type Operation = keyof Operations;

/** What an operation takes. */
export type Body<N extends Operation> = Operations[N] extends { body: infer B } ? B : never;
/** `data` of what an operation answers when it succeeds. */
export type Data<N extends Operation> = Operations[N] extends { data: infer D } ? D : never;
/** Query parameters of an operation, the cursor aside, which the iterators take care of. */
export type Query<N extends Operation> = Operations[N] extends { query: infer Q } ? Omit<Q, 'cursor'> : never;
/** An entry of what an operation lists. */
export type Item<N extends Operation> = Data<N> extends { items: (infer I)[] } ? I : never;

export type { Job, Page } from './api-types.ts';
