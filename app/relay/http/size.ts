/** A number of bytes as text, such as `1 MiB (1,048,576 bytes)`. */
export function sizeOf(bytes: number): string {
  const units = bytes % MIB === 0 ? `${bytes / MIB} MiB` : `${bytes / KIB} KiB`;
  return `${units} (${bytes.toLocaleString('en')} bytes)`;
}

const KIB = 1_024;
const MIB = KIB * KIB;
