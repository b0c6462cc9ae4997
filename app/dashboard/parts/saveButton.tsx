/** A button that makes or downloads a file. If that fails, the reason has its own line among the buttons. */
import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { Failed } from './failed.tsx';
import { Button } from './ui.tsx';

interface SaveButtonProps {
  work(): Promise<void>;
  /** Title of the reason. */
  failed: string;
  disabled?: boolean;
  className?: string;
  children: ReactNode;
}

export function SaveButton({ work, failed, children, ...button }: SaveButtonProps) {
  const { mutate, isPending, error } = useMutation({ mutationFn: work });
  return (
    <>
      <Button {...button} busy={isPending} onClick={() => mutate()}>
        {children}
      </Button>
      <Failed error={error} title={failed} className="order-last col-span-full basis-full" />
    </>
  );
}
