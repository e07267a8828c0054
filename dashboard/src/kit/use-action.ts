import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { toast } from './toasts.tsx';

/**
 * Runs an action of a button: busy meanwhile, a message when it fails, and the queries of `refresh` asked for again
 * when it is done.
 */
export function useAction(refresh: QueryKey): {
  readonly isBusy: boolean;
  run(action: () => Promise<unknown>, done?: string, undo?: () => void): Promise<void>;
} {
  const client = useQueryClient();
  const [isBusy, setIsBusy] = useState(false);
  return {
    isBusy,
    async run(action, done, undo) {
      setIsBusy(true);
      try {
        await action();
        if (done !== undefined) toast.done(done, undo && { label: 'Undo', onSelect: undo });
      } catch (cause) {
        toast.failed(cause);
      } finally {
        setIsBusy(false);
        await client.invalidateQueries({ queryKey: refresh });
      }
    },
  };
}
