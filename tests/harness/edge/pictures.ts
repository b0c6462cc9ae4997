/** Pictures of one pixel in each format that an agent can have, and PNGs of other sizes. */
import { crc32, deflateSync } from 'node:zlib';

const PIXELS = {
  'image/png': 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'image/jpeg':
    '/9j/4AAQSkZJRgABAQEASABIAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////////////wgALCAABAAEBAREA/8QAFBABAAAAAAAAAAAAAAAAAAAAAP/aAAgBAQABPxA=',
  'image/webp': 'UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA==',
};
export type PictureType = keyof typeof PIXELS;
export const PICTURE_TYPES = Object.keys(PIXELS) as PictureType[];

export const pixelOf = (type: PictureType): Buffer => Buffer.from(PIXELS[type], 'base64');
export const urlOf = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;

/**
 * A PNG in one shade of grey, if wanted with another, empty chunk after its head. Checksums are not what a marketplace
 * checks, but a browser does.
 */
export function pngOf(width: number, height: number, more?: string): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(name), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(body));
    return Buffer.concat([length, body, sum]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const lines = deflateSync(Buffer.alloc((width + 1) * height, 0));
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  const empty = Buffer.alloc(0);
  const between = more ? [chunk(more, empty)] : [];
  return Buffer.concat([signature, chunk('IHDR', head), ...between, chunk('IDAT', lines), chunk('IEND', empty)]);
}
