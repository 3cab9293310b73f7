import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { findPrometheus } from '../../scripts/prometheus.mjs';

const root = join(import.meta.dirname, '..', '..');
const programs = await findPrometheus(root);
if (programs === undefined)
  console.warn('Tests of the alerts are left out: Prometheus is not here and cannot be fetched.');

/** Whether alerts can be tried here; tests of them are skipped where not. */
export const hasPrometheus = programs !== undefined;

export const ALERTS = join(root, 'deploy', 'prometheus', 'alerts.yml');

/** A folder that goes when the test ends. */
export function folder(): string {
  const path = mkdtempSync(join(process.env.TEST_DATA ?? tmpdir(), 'docket-prometheus-'));
  onTestFinished(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** Runs promtool. Returns what it says, and whether all was well. */
export async function promtool(...args: string[]): Promise<{ ok: boolean; text: string }> {
  try {
    const { stdout, stderr } = await promisify(execFile)(programs?.promtool ?? '', args);
    return { ok: true, text: stdout + stderr };
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    return { ok: false, text: stdout + stderr };
  }
}
