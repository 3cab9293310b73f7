import type { Check, Examined } from './check.ts';
import { clockCheck } from './clock.ts';
import { docsChecks } from './docs-api.ts';
import { dataDirCheck, envFileCheck, nodeCheck, portCheck } from './machine.ts';
import { type Outcome, ok, wrong } from './outcome.ts';
import { redisChecks } from './redis.ts';
import { slackChecks } from './slack.ts';

const ofParts = [...slackChecks, ...docsChecks, clockCheck, ...redisChecks, dataDirCheck, portCheck];
const reported = new Set(ofParts.flatMap(({ reports = [] }) => reports));

const settingsCheck: Check = {
  id: 'settings',
  title: 'Settings',
  run: judgeSettings,
};

/** Every check, in the order of its line. A new one is a line here, or in the list of its part. */
export const CHECKS: readonly Check[] = [nodeCheck, envFileCheck, settingsCheck, ...ofParts];

/** Reports the problems that no other line has. */
function judgeSettings({ problems }: Examined): Outcome {
  if (problems.length === 0) return ok('All are valid.');
  const own = problems.filter(({ variable }) => !reported.has(variable)).map(({ text }) => text);
  const elsewhere = [...new Set(problems.map(({ variable }) => variable))].filter((name) =>
    reported.has(name),
  );
  if (elsewhere.length > 0) own.push(`Wrong or missing: ${elsewhere.join(', ')}. See their lines.`);
  return wrong(own.join(' '));
}
