import { createServer } from 'node:http';
import { resolve } from 'node:path';
import { healthAddressOf } from '../config/health-port.ts';
import { nodeProblem } from '../config/node-problem.ts';
import { listen, PortError } from '../server/http-server.ts';
import { DataDirUnusable, inspectDataDir } from '../store/embedded/data-dir.ts';
import type { Check, Examined } from './check.ts';
import { type Outcome, ok, warning, wrong } from './outcome.ts';

function judgeNode(version: string): Outcome {
  const problem = nodeProblem(version);
  return problem === undefined ? ok(`${version}.`) : wrong(problem);
}

function judgeEnvFile({ envFile, envFilePath: path, problems }: Examined): Outcome {
  if (envFile.is === 'unreadable') return wrong(envFile.problem);
  if (envFile.is === 'read') {
    return envFile.warning === undefined ? ok(`Only its owner can read ${path}.`) : warning(envFile.warning);
  }
  return problems.some(({ text }) => / is missing\. /.test(text))
    ? wrong(
        'There is no .env, and settings are missing. Run npm run setup, or: cp .env.example .env && chmod 600 .env, and fill it in (with docker: --env-file .env).',
      )
    : ok('None: the settings come from the environment.');
}

function judgeDataDir(dataDir: string): Outcome {
  try {
    const there = inspectDataDir(dataDir) !== undefined;
    const by = `uid ${process.getuid?.()}`;
    return ok(
      there
        ? `${resolve(dataDir)} can be read and written by ${by}.`
        : `${resolve(dataDir)} will be created at the first start by ${by}.`,
    );
  } catch (error) {
    if (error instanceof DataDirUnusable) return wrong(error.message);
    throw error;
  }
}

export const nodeCheck: Check = {
  id: 'node',
  title: 'Node',
  run: ({ nodeVersion }) => judgeNode(nodeVersion),
};

export const envFileCheck: Check = { id: 'env-file', title: '.env', run: judgeEnvFile };

/** Tries to listen. Where Docket itself does already, all is well. */
async function judgePort({ settings, env }: Examined): Promise<Outcome> {
  const isWorker = settings.role === 'worker';
  const [name, port] = isWorker
    ? (['HEALTH_PORT', settings.healthPort] as const)
    : (['PORT', settings.port] as const);
  const server = createServer();
  try {
    await listen(server, name, port, settings.host);
    server.close();
    return ok(`${name} is free.`);
  } catch (error) {
    if (!(error instanceof PortError)) throw error;
    const address = `http://${healthAddressOf(env)}/healthz`;
    const answer = await fetch(address, { signal: AbortSignal.timeout(1000) }).catch(() => undefined);
    return answer?.ok ? ok(`Docket is running and answers at ${name}.`) : wrong(error.message);
  }
}

export const portCheck: Check = {
  id: 'port',
  title: 'Port',
  reports: ['PORT', 'HEALTH_PORT', 'HOST'],
  run: judgePort,
};

export const dataDirCheck: Check = {
  id: 'data-dir',
  title: 'Data folder',
  needs: ['DATA_DIR'],
  run: ({ env, settings }) =>
    env.REDIS_URL?.trim() ? ok('Not used: REDIS_URL is set.') : judgeDataDir(settings.dataDir),
};
