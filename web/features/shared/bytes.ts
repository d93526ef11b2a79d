import { formatCounted, formatNumber } from '../../format.ts';

/** @returns number and unit: `91 bytes`, `64 KiB`, `1.5 MiB` */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return formatCounted(bytes, 'byte');
  const [size, unit] = bytes < 1024 ** 2 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB'];
  return `${formatNumber(size, size < 10 && !Number.isInteger(size) ? 1 : 0)} ${unit}`;
}
