import { useNavigate } from '@tanstack/react-router';
import { type LucideIcon, Pause, Play, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { send } from '../api/client.ts';
import { Button } from './button.tsx';
import { ConfirmDialog } from './dialog.tsx';
import { toast } from './toasts.tsx';
import { useAction } from './use-action.ts';

/** The buttons of something that runs again and again: once now, pause, resume and delete. */
export function StandingActions({
  family,
  kind,
  of: { id, name, status },
  run,
  resumed,
  deleted,
}: {
  readonly family: 'monitors' | 'schedules';
  /** What one of the family is called. */
  readonly kind: string;
  readonly of: { readonly id: string; readonly name: string; readonly status: string };
  readonly run: { readonly label: string; readonly icon: LucideIcon; readonly done: string };
  /** What it does again after a pause, such as `checks again`. */
  readonly resumed: string;
  /** What is deleted with it, and what stays. */
  readonly deleted: string;
}) {
  const navigate = useNavigate();
  const action = useAction([family]);
  const [isDeleting, setIsDeleting] = useState(false);
  const path = `/v1/${family}/{id}`;
  const post = (step: 'run' | 'pause' | 'resume') => () =>
    send({ method: 'POST', path: `${path}/${step}`, params: { id } });
  return (
    <>
      <Button icon={run.icon} isBusy={action.isBusy} onClick={() => action.run(post('run'), run.done)}>
        {run.label}
      </Button>
      {status === 'active' ? (
        <Button
          icon={Pause}
          onClick={() =>
            action.run(post('pause'), `“${name}” is paused.`, () => void action.run(post('resume')))
          }
        >
          Pause
        </Button>
      ) : (
        <Button icon={Play} onClick={() => action.run(post('resume'), `“${name}” ${resumed}.`)}>
          Resume
        </Button>
      )}
      <Button kind="danger" icon={Trash2} onClick={() => setIsDeleting(true)}>
        Delete
      </Button>
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setIsDeleting(false)}
        title={`Delete the ${kind} “${name}”?`}
        about={`${deleted} This cannot be undone.`}
        action={`Delete ${kind}`}
        typeToConfirm={name}
        onConfirm={async () => {
          await send({ method: 'DELETE', path, params: { id } });
          toast.done(`“${name}” is deleted.`);
          await navigate({ to: `/${family}` });
        }}
      />
    </>
  );
}
