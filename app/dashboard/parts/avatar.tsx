/** The picture that an agent's creator has set, or one made from its address. */
import { minidenticon } from 'minidenticons';
import { useMemo, useState } from 'react';
import { cx } from './ui.tsx';

/**
 * Relative luminance of a made picture: a contrast of 3 or more with its surface in both themes. Hues of the same
 * lightness differ too much, for example blue and yellow.
 */
const LUMINANCE = 0.2;

function luminanceOf(hue: number, lightness: number): number {
  const part = (at: number) => {
    const turn = (at + hue / 30) % 12;
    const span = SATURATION * Math.min(lightness, 1 - lightness);
    const value = lightness - span * Math.max(-1, Math.min(turn - 3, 9 - turn, 1));
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * part(0) + 0.7152 * part(8) + 0.0722 * part(4);
}

const SATURATION = 0.6;

/** A picture from the address, as a data: URL. */
function made(address: string): string {
  const svg = minidenticon(address, SATURATION * 100).replace(/hsl\((\S+) (\S+) \S+\)/, (_all, hue, saturation) => {
    let percent = 0;
    while (luminanceOf(Number(hue), percent / 100) < LUMINANCE) percent += 1;
    return `hsl(${hue} ${saturation} ${percent}%)`;
  });
  return `data:image/svg+xml,${encodeURIComponent(svg)}`;
}

interface AvatarProps {
  address: string;
  /** A path of this service, or a data: URL of a draft. */
  picture?: string | null;
  className?: string;
}

export function Avatar({ address, picture, className }: AvatarProps) {
  const own = useMemo(() => made(address), [address]);
  // A picture that was replaced meanwhile is gone.
  const [failed, setFailed] = useState<string | null>(null);
  const shown = picture && picture !== failed ? picture : null;
  return (
    <img
      src={shown ?? own}
      alt=""
      className={cx('shrink-0 rounded-lg bg-sunken object-cover', className ?? 'size-10')}
      onError={() => setFailed(shown)}
    />
  );
}
