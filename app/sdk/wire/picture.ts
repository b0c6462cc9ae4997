/**
 * The picture of an agent in its metadata: a data: URL of a small PNG, JPEG or WebP, checked by its bytes. Formats that can
 * contain programs or addresses, such as SVG, are refused.
 */
const TYPES = ['image/png', 'image/jpeg', 'image/webp'] as const;
export type PictureType = (typeof TYPES)[number];

/** In base64 it fills half of the largest document. */
export const MAX_PICTURE_BYTES = 24 * 1024;
/** Pixels. A small file can have so many pixels that a browser runs out of memory. */
export const MAX_PICTURE_SIDE = 512;
export const MAX_PICTURE_URL = 'data:image/jpeg;base64,'.length + (MAX_PICTURE_BYTES / 3) * 4;

export const PICTURE_URL = /^data:image\/(?:png|jpeg|webp);base64,[A-Za-z0-9+/]+={0,2}$/;
export const PICTURE_RULE = `must be a PNG, JPEG or WebP of at most ${MAX_PICTURE_BYTES} bytes as a data: URL in base64`;

interface Picture {
  type: PictureType;
  bytes: Uint8Array<ArrayBuffer>;
}

/** The picture of a URL that has passed `findPictureFault`. */
export function decodePicture(url: string): Picture {
  const type = TYPES.find((one) => url.startsWith(`data:${one};`));
  if (!type) throw new Error(PICTURE_RULE);
  return { type, bytes: Uint8Array.from(atob(url.slice(url.indexOf(',') + 1)), (char) => char.charCodeAt(0)) };
}

/** Why this URL cannot be an agent's picture; null if it can. */
export function findPictureFault(url: string): string | null {
  if (url.length > MAX_PICTURE_URL || !PICTURE_URL.test(url)) return PICTURE_RULE;
  let picture: Picture;
  try {
    picture = decodePicture(url);
  } catch {
    return PICTURE_RULE;
  }
  const { type, bytes } = picture;
  const size = sizeOf(type, bytes);
  if (!size) return `must be a still picture with the bytes of ${type}, as it says`;
  const isSmall = size.every((side) => side >= 1 && side <= MAX_PICTURE_SIDE);
  return isSmall ? null : `must have at most ${MAX_PICTURE_SIDE} x ${MAX_PICTURE_SIDE} pixels`;
}

/** The data: URL of a file; null if it is of none of the formats. */
export function pictureUrl(bytes: Uint8Array): string | null {
  const type = TYPES.find((one) => sizeOf(one, bytes));
  return type ? `data:${type};base64,${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}` : null;
}

type Size = [width: number, height: number];

/** Width and height by the file's head; null if the bytes are not of this type, or are animated. */
function sizeOf(type: PictureType, bytes: Uint8Array): Size | null {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  try {
    if (type === 'image/png') return sizeOfPng(view);
    return type === 'image/jpeg' ? sizeOfJpeg(view) : sizeOfWebp(view);
  } catch (error) {
    // The file ends before its size.
    if (error instanceof RangeError) return null;
    throw error;
  }
}

const nameAt = (view: DataView, at: number): string =>
  String.fromCharCode(...[0, 1, 2, 3].map((index) => view.getUint8(at + index)));

function sizeOfPng(view: DataView): Size | null {
  if (view.getUint32(0) !== 0x89504e47 || view.getUint32(4) !== 0x0d0a1a0a || nameAt(view, 12) !== 'IHDR') return null;
  for (let at = 8; nameAt(view, at + 4) !== 'IDAT'; at += 12 + view.getUint32(at)) {
    if (nameAt(view, at + 4) === 'acTL') return null;
  }
  return [view.getUint32(16), view.getUint32(20)];
}

/**
 * The size is in the frame header, SOF0 to SOF15; three markers of this range mean something else. Those from RST0 to SOS
 * have no length or come later: a decoder would skip what this one takes for a segment.
 */
function sizeOfJpeg(view: DataView): Size | null {
  if (view.getUint16(0) !== 0xffd8) return null;
  for (let at = 2; ; at += 2 + view.getUint16(at + 2)) {
    const marker = view.getUint16(at);
    if (marker < 0xffc0 || (marker >= 0xffd0 && marker <= 0xffda) || marker === 0xffff) return null;
    if (marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker))
      return [view.getUint16(at + 7), view.getUint16(at + 5)];
  }
}

/** In the flags of VP8X. */
const ANIMATED = 0x02;

function sizeOfWebp(view: DataView): Size | null {
  if (nameAt(view, 0) !== 'RIFF' || nameAt(view, 8) !== 'WEBP') return null;
  const lowest24 = (at: number) => view.getUint32(at, true) & 0xffffff;
  switch (nameAt(view, 12)) {
    case 'VP8X':
      if (view.getUint8(20) & ANIMATED) return null;
      return [1 + lowest24(24), 1 + (view.getUint32(26, true) >>> 8)];
    case 'VP8L': {
      const bits = view.getUint32(21, true);
      return [1 + (bits & 0x3fff), 1 + ((bits >>> 14) & 0x3fff)];
    }
    case 'VP8 ':
      return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
    default:
      return null;
  }
}
