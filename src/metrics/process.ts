import { readdirSync } from 'node:fs';
import type { metricsIn } from './kinds.ts';

/** Cheap values of this process, under the names that Prometheus' own libraries use. */
export function addProcessMetrics({ read }: ReturnType<typeof metricsIn>): void {
  const startedAtS = Math.round(performance.timeOrigin / 1000);
  read(
    'gauge',
    'process_start_time_seconds',
    'When the process started, in epoch seconds.',
    () => startedAtS,
  );
  read('counter', 'process_cpu_seconds_total', 'Processor time, of user and system.', () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  read('gauge', 'process_resident_memory_bytes', 'Memory that the process holds.', process.memoryUsage.rss);
  read(
    'gauge',
    'process_open_fds',
    'Open file handles; not shown where the system does not tell.',
    openFiles,
  );
  read(
    'gauge',
    'nodejs_heap_size_used_bytes',
    'Memory of JavaScript objects.',
    () => process.memoryUsage().heapUsed,
  );
  read(
    'counter',
    'nodejs_eventloop_active_seconds_total',
    'Time in which the event loop was busy: its increase per second is how busy it is, from 0 to 1.',
    () => performance.eventLoopUtilization().active / 1000,
  );
}

function openFiles(): number | undefined {
  try {
    // Without the descriptor that reads the folder.
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}
