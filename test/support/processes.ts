import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** Living processes that were started with this temporary folder, or work inside it. */
export function processesWith(folder: string) {
  return processes().filter(({ traces }) => traces.includes(folder));
}

/** With the command line, the environment and, where it can be known, the folder of each. */
function processes(): { pid: number; command: string; traces: string }[] {
  if (process.platform !== 'linux') {
    const lines = execFileSync('ps', ['-AEww', '-o', 'pid=,command='], { encoding: 'utf8' }).split('\n');
    return lines.map((line) => ({ pid: Number.parseInt(line, 10), command: line, traces: line }));
  }
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
      const rest = [readFileSync(`/proc/${pid}/environ`, 'utf8'), readlinkSync(`/proc/${pid}/cwd`)];
      return [{ pid: Number(pid), command, traces: [command, ...rest].join('\n') }];
    } catch {
      // It ended meanwhile, or belongs to somebody else.
      return [];
    }
  });
}
