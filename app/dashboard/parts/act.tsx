/** A dialog with one action that needs no signature. */
import { useMutation, useQueryClient } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { explain } from '../service.ts';
import { FormDialog } from './dialog.tsx';
import { useNotify } from './toasts.tsx';
import { Button } from './ui.tsx';

/** Shared by dialogs with an action. */
export interface ActionProps<T> {
  title: ReactNode;
  about?: ReactNode;
  /** Fields that the user fills in first. */
  children?: ReactNode;
  confirm: string;
  danger?: boolean;
  disabled?: boolean;
  /** Why it cannot be confirmed yet; shown beside the disabled button. */
  whyNot?: string | null;
  /** The notice of success, with an optional second line. */
  done?(result: T): readonly [title: string, about?: string] | false;
  /** Called by the user, and after success. */
  onClose(): void;
  /** Called after success, when the dialog is closed. */
  onDone?(result: T): void;
}

interface ActDialogProps<T> extends ActionProps<T> {
  /** Title of the reason if the action fails. */
  failed: string;
  cancel?: string;
  work(): Promise<T>;
}

/** Acts on confirmation, then reads everything visible again. It stays open with the reason if the action fails. */
export function ActDialog<T>(props: ActDialogProps<T>) {
  const { confirm, danger, disabled, whyNot, done, work, onDone, children, ...dialog } = props;
  const notify = useNotify();
  const queries = useQueryClient();
  const { mutate, isPending, error } = useMutation({
    mutationFn: work,
    onSuccess: async (result) => {
      await queries.invalidateQueries();
      const notice = done?.(result);
      if (notice) notify(...notice);
      props.onClose();
      onDone?.(result);
    },
  });
  return (
    <FormDialog
      {...dialog}
      isBusy={isPending}
      error={error && explain(error)}
      whyNot={disabled && whyNot}
      button={
        <Button type="submit" kind={danger ? 'danger' : 'primary'} busy={isPending} disabled={disabled}>
          {confirm}
        </Button>
      }
      onSubmit={mutate}
    >
      {children}
    </FormDialog>
  );
}
