/** The picture that an agent's creator has set, or one made from its address. */
import { minidenticon } from 'minidenticons';
import { useMemo, useState } from 'react';
import { cx } from './ui.tsx';

interface AvatarProps {
  address: string;
  /** A path of this service, or a data: URL of a draft. */
  picture?: string | null;
  className?: string;
}

/** Fewer squares look like a broken picture. */
const FEWEST_SQUARES = 8;

/**
 * The colour's lightness has a contrast of 3 or more on both themes' backgrounds, for every hue. Hues are those from
 * teal by blue to pink, which go with the page's own.
 */
function drawn(address: string): string {
  let svg = minidenticon(address);
  for (let seed = `${address}.`; svg.split('<rect').length <= FEWEST_SQUARES; seed += '.') svg = minidenticon(seed);
  return svg.replace(
    /fill="hsl\(([\d.]+)[^"]*"/,
    (_, hue: string) => `shape-rendering="crispEdges" fill="oklch(0.58 0.13 ${190 + Number(hue) * 0.45})"`,
  );
}

export function Avatar({ address, picture, className }: AvatarProps) {
  const made = useMemo(() => `data:image/svg+xml,${encodeURIComponent(drawn(address))}`, [address]);
  // A picture that was replaced meanwhile is gone.
  const [failed, setFailed] = useState<string | null>(null);
  const shown = picture && picture !== failed ? picture : null;
  return (
    <img
      src={shown ?? made}
      alt=""
      className={cx('shrink-0 rounded-lg bg-sunken object-cover', className ?? 'size-10')}
      onError={() => setFailed(shown)}
    />
  );
}
