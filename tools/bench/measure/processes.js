import { readFile } from 'node:fs/promises';

/** USER_HZ: what Linux shows to programs, whatever its kernel counts in. */
const TICKS_PER_SECOND = 100;

const PAGE_BYTES = 4096;

/** @param {number} pid @returns {Promise<number>} CPU seconds, of user and system, that a process has used so far */
export async function cpuSeconds(pid) {
  const fields = await statFields(pid);
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** @param {number} pid @returns {Promise<number>} bytes of memory that it has resident */
export async function residentBytes(pid) {
  return Number((await statFields(pid))[21]) * PAGE_BYTES;
}

/** The fields after the name in brackets, which may hold anything: `state ppid …` (proc(5)). @param {number} pid */
async function statFields(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ');
}
