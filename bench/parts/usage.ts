import { readFileSync } from 'node:fs';

/** What a process has used of the machine. Read from /proc, so on Linux alone. */
export function usageOf(pid: number): { cpuMs: number; residentMb: number } {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ', 2);
  const [user, system] = fields.split(' ').slice(11, 13).map(Number);
  const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1];
  // The kernel counts hundredths of a second for programs, whatever it uses itself.
  return { cpuMs: ((user ?? 0) + (system ?? 0)) * 10, residentMb: Number(resident) / 1024 };
}
