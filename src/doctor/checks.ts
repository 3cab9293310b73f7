import type { Check } from './check.ts';
import { clockCheck } from './clock.ts';
import { docsChecks } from './docs-api.ts';
import { dataDirCheck, envFileCheck, judgeSettings, nodeCheck, portCheck } from './machine.ts';
import { redisChecks } from './redis.ts';
import { slackChecks } from './slack.ts';

const ofParts = [...slackChecks, ...docsChecks, clockCheck, ...redisChecks, dataDirCheck, portCheck];
const reported = new Set(ofParts.flatMap(({ reports = [] }) => reports));

const settingsCheck: Check = {
  id: 'settings',
  title: 'Settings',
  run: (examined) => judgeSettings(examined, reported),
};

/** Every check, in the order of its line. A new one is a line here, or in the list of its part. */
export const CHECKS: readonly Check[] = [nodeCheck, envFileCheck, settingsCheck, ...ofParts];
