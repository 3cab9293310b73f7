import type { EnvFile } from '../config/env-file.ts';
import type { UsableSettings } from '../config/usable-settings.ts';
import type { Outcome } from './outcome.ts';
import type { Probes } from './probes.ts';

/** What checks look at. */
export interface Examined extends UsableSettings, Probes {
  settings: NonNullable<UsableSettings['settings']>;
  env: NodeJS.ProcessEnv;
  envFile: EnvFile;
  envFilePath: string;
  nodeVersion: string;
  manifestScopes: readonly string[];
}

/** One line of the doctor. */
export interface Check {
  /** For scripts; never changes. */
  id: string;
  title: string;
  /** Settings whose problems are reported in this line. */
  reports?: readonly string[];
  /** Settings without which it cannot be checked. */
  needs?: readonly string[];
  run(examined: Examined): Outcome | Promise<Outcome>;
}
