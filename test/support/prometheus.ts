import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { onTestFinished } from 'vitest';
import { findPrometheus } from '../../scripts/prometheus.mjs';
import { endsWithTests } from './processes.ts';
import { freePort } from './redis.ts';

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

export interface Prometheus {
  /** The names of the alerts that fire. */
  firing(): Promise<string[]>;
  /** How often the rules have been evaluated, with the metrics of so many scrapes. */
  scrapes(): Promise<number>;
}

/** The alert rules with minutes as seconds, and with what is compared with minutes a sixtieth. */
function quickened(rules: string): string {
  return rules
    .replace('for: 30s', 'for: 500ms')
    .replace(/(for: |\[)(\d+)m\b/g, '$1$2s')
    .replace(/(_seconds(?:\{[^}]*\})?\)?) > 120$/gm, '$1 > 2');
}

/** Starts a Prometheus of the test's own that scrapes these ports, with the alert rules sixty times as fast. */
export async function startPrometheus(ports: readonly number[]): Promise<Prometheus> {
  const path = folder();
  const port = await freePort();
  writeFileSync(join(path, 'alerts.yml'), quickened(readFileSync(ALERTS, 'utf8')));
  const targets = ports.map((one) => `127.0.0.1:${one}`);
  const config = {
    global: { scrape_interval: '250ms', scrape_timeout: '250ms', evaluation_interval: '250ms' },
    rule_files: ['alerts.yml'],
    scrape_configs: [{ job_name: 'docket', scrape_interval: '250ms', static_configs: [{ targets }] }],
  };
  writeFileSync(join(path, 'prometheus.yml'), JSON.stringify(config));
  const args = [`--config.file=${join(path, 'prometheus.yml')}`, `--storage.tsdb.path=${join(path, 'data')}`];
  const child = endsWithTests(
    spawn(programs?.prometheus ?? '', [...args, `--web.listen-address=127.0.0.1:${port}`], {
      cwd: path,
      stdio: ['ignore', 'ignore', 'pipe'],
    }),
  );
  onTestFinished(() => end(child));
  await isReady(child);

  async function ask(path: string): Promise<unknown> {
    const response = await fetch(`http://127.0.0.1:${port}/api/v1/${path}`);
    const { data } = (await response.json()) as { data: unknown };
    return data;
  }
  return {
    async firing() {
      const { alerts } = (await ask('alerts')) as {
        alerts: { state: string; labels: Record<string, string> }[];
      };
      const names = alerts
        .filter(({ state }) => state === 'firing')
        .map(({ labels }) => labels.alertname ?? '');
      return [...new Set(names)].toSorted();
    },
    async scrapes() {
      const query = encodeURIComponent('min(count_over_time(docket_build_info[10m]))');
      const { result } = (await ask(`query?query=${query}`)) as { result: { value: [number, string] }[] };
      return Number(result[0]?.value[1] ?? 0);
    },
  };
}

async function isReady(child: ChildProcess): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.stderr?.on('data', (chunk: Buffer) => {
      said += chunk.toString();
      if (said.includes('Server is ready to receive web requests')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`Prometheus ended with ${code}:\n${said}`)));
  });
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  child.kill('SIGKILL');
  await gone;
}
