/** An agent's picture: a file that this browser makes small enough, without what a camera writes into it. */
import { useRef, useState } from 'react';
import { findPictureFault } from '../../../sdk/wire/picture.ts';
import { Avatar } from '../../parts/avatar.tsx';
import { Button, Field } from '../../parts/ui.tsx';

const ACCEPTED = 'image/png,image/jpeg,image/webp';
/** Pixels. Cards show it with 36. */
const SIDE = 192;
const QUALITIES = [0.9, 0.7, 0.5];

interface PictureFieldProps {
  /** The address that the picture without a file is made from. */
  address: string;
  picture: string;
  error: string | null;
  onChange(picture: string): void;
}

export function PictureField({ address, picture, error, onChange }: PictureFieldProps) {
  const input = useRef<HTMLInputElement>(null);
  const [fault, setFault] = useState<string | null>(null);
  async function take(file: File | undefined) {
    if (!file) return;
    const made = await shrink(file).catch(() => null);
    setFault(made ? null : 'is not a picture that this browser can read');
    if (made) onChange(made);
  }
  return (
    <Field
      label="Picture"
      hint="PNG, JPEG or WebP of any size, cropped to a square. Optional: without one, callers see this pattern."
      error={fault ?? error}
    >
      {(props) => (
        <div className="flex flex-wrap items-center gap-3">
          <Avatar address={address} picture={picture} className="size-14" />
          <input
            {...props}
            ref={input}
            type="file"
            accept={ACCEPTED}
            className="sr-only"
            tabIndex={-1}
            onChange={({ target }) => {
              void take(target.files?.[0]);
              // The same file can be chosen again.
              target.value = '';
            }}
          />
          <Button onClick={() => input.current?.click()}>{picture ? 'Choose another' : 'Choose a picture'}</Button>
          {picture && (
            <Button kind="quiet" onClick={() => onChange('')}>
              Remove it
            </Button>
          )}
        </div>
      )}
    </Field>
  );
}

/** The middle square of the picture as a data: URL; null if it cannot be made small enough. */
async function shrink(file: File): Promise<string | null> {
  const image = await createImageBitmap(file);
  const side = Math.min(image.width, image.height);
  const canvas = document.createElement('canvas');
  canvas.width = canvas.height = Math.min(SIDE, side);
  const [left, top] = [(image.width - side) / 2, (image.height - side) / 2];
  canvas.getContext('2d')?.drawImage(image, left, top, side, side, 0, 0, canvas.width, canvas.height);
  // A browser that cannot write WebP writes PNG instead.
  const tries = QUALITIES.flatMap((quality) =>
    ['image/webp', 'image/jpeg'].map((type) => canvas.toDataURL(type, quality)),
  );
  return tries.find((url) => findPictureFault(url) === null) ?? null;
}
