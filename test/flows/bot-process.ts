import { startApp } from '../../src/app.ts';
import { readSettings } from '../../src/config.ts';
import { createLog } from '../../src/log.ts';
import type { Timing } from '../../src/timing.ts';

/** The bot as a process of its own, with the durations that the test passes as JSON. */
const settings = readSettings(process.env);
const timing: Partial<Timing> = JSON.parse(process.env.TEST_TIMING ?? '{}');
const log = createLog(settings.logLevel, [
  settings.slackBotToken,
  settings.slackSigningSecret,
  settings.docsApiKey,
]);
const docket = await startApp(settings, { log, timing });
process.once('SIGTERM', async () => {
  await docket.stop();
  process.exit(0);
});
