/** Shows why an action failed. */
import { explain } from '../service.ts';
import { Note } from './ui.tsx';

interface FailedProps {
  /** Nothing is shown without one. */
  error: unknown;
  title: string;
  className?: string;
}

export const Failed = ({ error, title, className }: FailedProps) =>
  error != null && (
    <div className={className}>
      <Note tone="bad" title={title}>
        {explain(error)}
      </Note>
    </div>
  );
