/**
 * Where a process writes its log. A full disk or a reader that has stopped reading must not stop the process: lines
 * wait in memory up to a limit, and are then dropped and counted.
 */
import { renameSync, statSync } from 'node:fs';
import pino, { type DestinationStream } from 'pino';

/** Limit of buffered log lines: about a thousand lines. */
const MAX_WAITING_BYTES = 256 * 1024;
const RETRY_MS = 500;
/** A log file of this size becomes `FILE.1`, and `FILE.1` becomes `FILE.2`. */
const MAX_FILE_BYTES = 10 * 1024 * 1024;
const KEPT_FILES = 2;

let dropped = 0;

/** Log lines that this process has dropped. */
export const droppedLines = (): number => dropped;

type Destination = ReturnType<typeof pino.destination>;

/** Writes to a file, which is rotated. */
export function logToFile(file: string, { maxFileBytes = MAX_FILE_BYTES } = {}): DestinationStream {
  const destination = open(file);
  rotateAt(maxFileBytes, file, destination);
  return destination;
}

const standard = new Map<1 | 2, Destination>();

/** Writes to stdout (1) or stderr (2). */
export function logToStandard(fd: 1 | 2): DestinationStream {
  const known = standard.get(fd);
  if (known) return known;
  // Node makes a pipe non-blocking when its stream is first used. A blocking one would stop the process.
  void (fd === 1 ? process.stdout : process.stderr);
  const destination = open(fd);
  process.once('exit', () => destination.write(''));
  standard.set(fd, destination);
  return destination;
}

function open(dest: string | number): Destination {
  const destination = pino.destination({
    dest,
    // When the process exits, an asynchronous destination retries writing the rest without end.
    sync: true,
    mode: 0o600,
    maxLength: MAX_WAITING_BYTES,
    retryEAGAIN: () => false,
  });
  destination.on('drop', () => {
    dropped += 1;
  });
  let isWaiting = false;
  // The lines are still in memory. Each write, even an empty one, retries them.
  destination.on('error', () => {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      destination.write('');
    }, RETRY_MS).unref();
  });
  return destination;
}

function rotateAt(maxBytes: number, file: string, destination: Destination): void {
  let bytes = statSync(file).size;
  destination.on('write', (written: number) => {
    bytes += written;
    if (bytes < maxBytes) return;
    bytes = 0;
    try {
      for (let place = KEPT_FILES; place > 1; place -= 1) moveIfThere(`${file}.${place - 1}`, `${file}.${place}`);
      renameSync(file, `${file}.1`);
      destination.reopen();
    } catch {
      // The open file stays in use.
    }
  });
}

function moveIfThere(from: string, to: string): void {
  try {
    renameSync(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
