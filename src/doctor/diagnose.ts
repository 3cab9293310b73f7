import { type EnvFile, readEnvFile } from '../config/env-file.ts';
import { readUsableSettings } from '../config/usable-settings.ts';
import { prepareWayOut } from '../runtime/outgoing.ts';
import type { Check, Examined } from './check.ts';
import { CHECKS } from './checks.ts';
import type { HttpParts } from './http.ts';
import { notChecked, type Outcome, wrong } from './outcome.ts';
import type { RedisParts } from './probe-redis.ts';
import { createProbes } from './probes.ts';

/** One line. */
export interface Finding extends Outcome {
  id: string;
  title: string;
}

export interface DiagnoseOptions extends HttpParts, RedisParts {
  env: NodeJS.ProcessEnv;
  /** The `.env` that `npm start` reads; variables of `env` win. Without one, `env` is all there is. */
  envFile: string | undefined;
  nodeVersion: string;
  manifestScopes: readonly string[];
  /** The ids of the checks that are run; all when left out. */
  only?: readonly string[];
}

/** Runs all checks at the same time. Returns a finding for each, in their order; none holds a secret. */
export async function diagnose(options: DiagnoseOptions): Promise<Finding[]> {
  const { nodeVersion, manifestScopes } = options;
  const envFile: EnvFile = options.envFile === undefined ? { is: 'absent' } : readEnvFile(options.envFile);
  const checks = CHECKS.filter(({ id }) => options.only?.includes(id) ?? true);
  const env = { ...(envFile.is === 'read' && envFile.values), ...options.env };
  const { settings, problems, flawed } = readUsableSettings(env);
  if (settings === undefined) {
    const why = problems.map(({ text }) => text).join(' ');
    return checks.map(({ id, title }) => ({ id, title, ...wrong(why) }));
  }
  // Checks take the way out that Docket takes.
  prepareWayOut(settings);
  const examined: Examined = {
    ...{
      settings,
      problems,
      flawed,
      env,
      envFile,
      envFilePath: options.envFile ?? '.env',
      nodeVersion,
      manifestScopes,
    },
    ...createProbes(settings, options),
  };
  return await Promise.all(
    checks.map(async (check) => {
      const outcome = await outcomeOf(check, examined);
      return { id: check.id, title: check.title, ...outcome };
    }),
  );
}

async function outcomeOf(check: Check, examined: Examined): Promise<Outcome> {
  const { reports = [], needs = [] } = check;
  const own = examined.problems.filter(({ variable }) => reports.includes(variable));
  if (own.length > 0) return wrong(own.map(({ text }) => text).join(' '));
  const lacking = needs.filter((name) => examined.flawed.has(name));
  if (lacking.length > 0)
    return notChecked(`Needs ${lacking.join(', ')}, which is wrong or missing: fix that first.`);
  try {
    return await check.run(examined);
  } catch (error) {
    // Its message may repeat what was sent.
    return wrong(`Could not be checked (${error instanceof Error ? error.name : 'unknown error'}).`);
  }
}
