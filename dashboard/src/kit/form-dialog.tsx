import { type QueryKey, useQueryClient } from '@tanstack/react-query';
import { type FormEvent, type ReactNode, useId, useState } from 'react';
import { problemOf } from '../api/api-error.ts';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { Stack } from './layout.tsx';
import { SecretOnce } from './secret-once.tsx';
import { FailureNotice } from './states.tsx';

type Found = Readonly<Record<string, string | false | undefined>>;

export interface Submit {
  readonly failure: unknown;
  readonly isBusy: boolean;
  /** What is wrong with a field; `name` is what the request calls it, where that differs. */
  errorOf(field: string, name?: string): string | undefined;
  /** For `onSubmit`: sends the form unless a field is wrong. */
  run(event: FormEvent): Promise<void>;
  /** Forgets what went wrong. */
  reset(): void;
}

/**
 * Sends a small form. `check` says what is wrong by the name of the field, in words that say what to do; from the first
 * try on it is asked with every change. What the server finds wrong shows at its field too, or below the form.
 */
export function useSubmit({
  check,
  send,
  refresh,
}: {
  readonly check: () => Found;
  readonly send: () => Promise<unknown>;
  /** The queries that show something else afterwards. */
  readonly refresh: QueryKey;
}): Submit {
  const client = useQueryClient();
  const [isTried, setIsTried] = useState(false);
  const [failure, setFailure] = useState<unknown>(null);
  const [isBusy, setIsBusy] = useState(false);
  const problems = isTried ? check() : {};
  return {
    failure,
    isBusy,
    errorOf: (field, name = field) => problems[field] || problemOf(failure, name),
    async run(event) {
      event.preventDefault();
      setIsTried(true);
      if (isBusy || Object.values(check()).some((problem) => problem)) return;
      setIsBusy(true);
      setFailure(null);
      try {
        await send();
        await client.invalidateQueries({ queryKey: refresh });
      } catch (cause) {
        setFailure(cause);
      } finally {
        setIsBusy(false);
      }
    },
    reset() {
      setIsTried(false);
      setFailure(null);
    },
  };
}

interface FormDialogProps {
  readonly isOpen?: boolean;
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly about?: ReactNode;
  readonly shape?: 'normal' | 'wide';
  /** Text of the button that sends, such as `Create key`. */
  readonly action: string;
  readonly submit: Submit;
  readonly children: ReactNode;
  /** Stands below the failure, such as the request as code. */
  readonly below?: ReactNode;
}

/** A form in a dialog: its fields, why it failed, and the buttons at the bottom. */
export function FormDialog({ isOpen = true, submit, action, children, below, ...dialog }: FormDialogProps) {
  const id = useId();
  return (
    <Dialog
      {...dialog}
      isOpen={isOpen}
      actions={
        <>
          <Button onClick={dialog.onClose}>Cancel</Button>
          <Button kind="primary" type="submit" form={id} isBusy={submit.isBusy}>
            {action}
          </Button>
        </>
      }
    >
      <form id={id} onSubmit={submit.run} noValidate autoComplete="off">
        <Stack>
          {children}
          {submit.failure !== null && <FailureNotice failure={submit.failure} />}
          {below}
        </Stack>
      </form>
    </Dialog>
  );
}

/** A secret right after it was made, in place of the form that made it. */
export const SecretDialog = ({
  onClose,
  title,
  secret,
  label,
  children,
}: {
  readonly onClose: () => void;
  readonly title: ReactNode;
  readonly secret: string;
  readonly label: string;
  readonly children?: ReactNode;
}) => (
  <Dialog isOpen onClose={onClose} title={title} actions={<Button onClick={onClose}>Done</Button>}>
    {children}
    <SecretOnce secret={secret} label={label} />
  </Dialog>
);
