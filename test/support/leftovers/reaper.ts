import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync, rmSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { forgetSharedMemory } from '../processes.ts';

const [folder = '', data = '', children = ''] = process.argv.slice(2);

/** A process that cannot be killed holds nobody up for longer. */
const LIMIT_MS = 30_000;

/** Processes of this run: its workers and all that they started, and nothing of another run. */
function living(): number[] {
  if (process.platform !== 'linux') return readdirSync(children).map(Number);
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.filter(isOurs).map(Number);
}

function isOurs(pid: string): boolean {
  try {
    const environment = readFileSync(`/proc/${pid}/environ`, 'utf8').replaceAll('\0', '\n').trim();
    if (environment !== '') return environment.includes(folder);
    // Redis writes its title over its environment; it works in the folder of its data.
    const place = readlinkSync(`/proc/${pid}/cwd`);
    return [folder, data].some((ours) => place.startsWith(`${ours}/`));
  } catch {
    // It has just ended, or is another's.
    return false;
  }
}

await once(process.stdin.resume(), 'close');
const endsAt = performance.now() + LIMIT_MS;
// What is about to become another program shows no environment for a moment.
for (let quiet = 0; quiet < 3 && performance.now() < endsAt; quiet += 1) {
  for (const pid of living()) {
    quiet = 0;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended by itself.
    }
    forgetSharedMemory(pid);
    rmSync(`${children}/${pid}`, { force: true });
  }
  await pause(50);
}
for (const one of [folder, data]) rmSync(one, { recursive: true, force: true, maxRetries: 10 });
