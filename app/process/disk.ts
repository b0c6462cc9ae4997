/** The room on a disk. */
import { statfs } from 'node:fs/promises';

/** Bytes that a process without privileges may still write in the folder's file system. */
export async function freeBytes(folder: string): Promise<number> {
  const { bavail, bsize } = await statfs(folder);
  return bavail * bsize;
}
