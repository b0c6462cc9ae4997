/** A step of the way to a call by code, with its number in a circle. */
import type { ReactNode } from 'react';
import { NumberMark } from '../../../parts/stepList.tsx';

export function Step({ number, title, children }: { number?: number; title: string; children: ReactNode }) {
  return (
    <section className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <h2 className="flex items-center gap-3 text-lg font-semibold">
        {number && <NumberMark number={number} />}
        <span className="min-w-0">{title}</span>
      </h2>
      {children}
    </section>
  );
}
