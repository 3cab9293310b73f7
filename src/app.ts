import { hostname } from 'node:os';
import { allowGrowth, collectAtRest } from './config/node.ts';
import { readSettings, type Settings, secretsInAddress, secretsOf } from './config/settings.ts';
import { type AppParts, createRoleParts } from './role.ts';
import { createLog, type Log } from './runtime/log.ts';
import { OperatorError } from './runtime/operator-error.ts';
import { configureOutgoing } from './runtime/outgoing.ts';
import { createShutdownHooks, Stopping } from './runtime/stopping.ts';
import { defaultTiming } from './runtime/timing.ts';
import { revision, version } from './runtime/version.ts';
import { startHttpServer } from './server/http-server.ts';

/** How long a signal may be the repetition of the one before. */
const REPEAT_MS = 500;

/**
 * Creates all parts and starts them. Returns the port for health checks and, unless the role is `worker`, Slack's
 * requests; and `stop`, which hands running jobs back and closes everything, once. Rejects with a typed error that names
 * the fix, or, if `stopping` is aborted during the start, with `Stopping`. After a rejection, nothing stays open.
 */
export async function startApp(
  settings: Settings,
  { stopping, ...options }: AppParts & { stopping?: AbortSignal },
) {
  const { log } = options;
  const isWorker = settings.role === 'worker';
  const { host, keepAliveSeconds, healthPort, port: slackPort } = settings;
  const variable = isWorker ? 'HEALTH_PORT' : 'PORT';
  const wanted = isWorker ? healthPort : slackPort;
  const server = await startHttpServer(variable, wanted, log, { host, keepAliveMs: keepAliveSeconds * 1000 });
  const { port } = server;
  const closers = createShutdownHooks(log);
  // After the abort, no job is taken, not even by a worker that started before the rest.
  stopping?.addEventListener('abort', closers.stop);
  if (stopping?.aborted) closers.stop();

  /** Stops requests first, then everything else. */
  async function stop() {
    closers.stop();
    await server.close();
    await closers.closeAll();
  }

  try {
    const all = { searchPath: process.env.PATH, ...options };
    const parts = await createRoleParts(settings, server, closers, all);
    // A process loads only the code of its role.
    if (settings.role !== 'web') await (await import('./worker.ts')).startWorker(settings, parts);
    if (!isWorker) await (await import('./web.ts')).startWeb(settings, parts);
    if (settings.queueDashboardPort !== undefined) {
      const { startQueueDashboard } = await import('./server/queue-dashboard.ts');
      const dashboardPort = await startQueueDashboard(settings.queueDashboardPort, parts);
      log.info({ dashboardPort }, 'the queues are shown to this machine');
    }
    closers.stopping.throwIfAborted();
    parts.health.markReady();
    const redis = settings.redisUrl === undefined ? 'embedded' : 'external';
    const of = { redis, host: hostname(), version, revision };
    log.info({ role: settings.role, [isWorker ? 'healthPort' : 'port']: port, ...of }, 'Docket is up');
    return { port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Runs Docket until a signal. If the settings cannot work, prints their problems with the fixes, and exits with 1. */
export async function main(env: NodeJS.ProcessEnv, parts: Omit<AppParts, 'log' | 'secrets'> = {}) {
  let log: Log | undefined;
  const stopping = new AbortController();
  try {
    const settings = readSettings(env);
    const secrets = secretsOf(settings);
    log = createLog(settings.logLevel, secrets);
    configureOutgoing(settings);
    const app = startApp(settings, { ...parts, log, secrets, stopping: stopping.signal });
    const { shutdownMs } = { ...defaultTiming, ...parts.timing };
    stopOnSignals(app, stopping, shutdownMs, log);
    await app;
    allowGrowth();
    collectAtRest(stopping.signal);
  } catch (error) {
    // The signal handler ends the process.
    if (stopping.signal.aborted) return;
    if (error instanceof OperatorError) console.error(error.message);
    else {
      log ??= createLog('info', secretsInAddress(env.REDIS_URL ?? ''));
      log.fatal({ err: error }, 'Docket could not start');
    }
    process.exit(1);
  }
}

/** Stops Docket in order on a signal, including its Redis, even during the start. */
function stopOnSignals(
  app: ReturnType<typeof startApp>,
  stopping: AbortController,
  shutdownMs: number,
  log: Log,
) {
  const stop = async (signal: NodeJS.Signals) => {
    if (stopping.signal.aborted) return;
    log.info({ signal }, 'stopping');
    setTimeout(() => process.exit(1), shutdownMs + 1500).unref();
    stopping.abort(new Stopping());
    // A Docket that was starting has cleaned up by itself.
    const docket = await app.catch(() => undefined);
    await docket?.stop();
    process.exit(0);
  };
  const onSignal = (received: NodeJS.Signals) => void stop(received);
  // A closing terminal sends SIGHUP.
  for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT'] as const) process.on(signal, onSignal);
  // npm repeats each Ctrl-C, which the terminal sends to both. A second one, later, ends at once.
  process.once('SIGINT', () => setTimeout(() => process.off('SIGINT', onSignal), REPEAT_MS).unref());
  process.on('uncaughtException', (error) => {
    if (error instanceof OperatorError) console.error(error.message);
    else log.fatal({ err: error }, 'an error that nobody caught; what is accepted goes on after a restart');
    process.exit(1);
  });
}

if (import.meta.main) await main(process.env);
