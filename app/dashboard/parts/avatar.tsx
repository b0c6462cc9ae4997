/** A picture made from an address, so that people recognize an agent again. It is the same on every page. */
import { minidenticon } from 'minidenticons';
import { useMemo } from 'react';
import { cx } from './ui.tsx';

export function Avatar({ address, className }: { address: string; className?: string }) {
  const url = useMemo(() => `data:image/svg+xml,${encodeURIComponent(minidenticon(address, 60, 50))}`, [address]);
  return <img src={url} alt="" className={cx('shrink-0 rounded-lg bg-sunken', className ?? 'size-10')} />;
}
