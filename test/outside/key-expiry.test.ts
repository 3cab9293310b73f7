import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { stageOf } from '../support/flows/stage.ts';
import { createWorld, temporaryFolder } from '../support/flows/world.ts';

const DAY_MS = 86_400_000;
const EXPIRES = '2026-12-20';
const before = (days: number) => Date.parse(EXPIRES) - days * DAY_MS;

/** Two bots that have the key of one project from a file with a date, and that of another from the environment. */
async function worldWithDate(betaKey = '{ env: BETA_KEY }') {
  const folder = temporaryFolder();
  const file = join(folder.path, 'key');
  const beta = { apiKey: 'adm_beta_0123456789', domains: ['docs.beta.io'] };
  const world = await createWorld({ startMs: before(15), platform: { others: [beta] } });
  onTestFinished(async () => {
    await world.close();
    folder.remove();
  });
  writeFileSync(file, world.platform.apiKey);
  const config = `projects:
  acme: { domains: [docs.acme.com], apiKey: { file: ${file}, expires: ${EXPIRES} } }
  beta: { domains: [docs.beta.io], apiKey: ${betaKey} }
allow: { admin: [U0ANA] }
`;
  const start = () => world.startBot({ config, env: { BETA_KEY: beta.apiKey } });
  await start();
  await start();
  const { sees } = stageOf(() => world);
  const reminders = () => sees('@ana').filter((text) => text.includes('expires on'));
  return { world, file, start, reminders };
}

test('admins are reminded 14, 7 and 1 days ahead, once each, also by two processes and after a restart', async () => {
  const { world, file, start, reminders } = await worldWithDate();
  const { jumpTo, slack, bots } = world;
  let [from, sent] = [0, 0];
  /** All bots have noted it since `from`. */
  const areReminded = async () => {
    sent += 1;
    await expect
      .poll(() => bots.map((bot) => bot.output().split('an API key expires soon').length - 1))
      .toEqual(bots.map((_, index) => sent - (index < 2 ? 0 : from)));
    await slack.until(() => reminders().length === sent);
  };
  expect(reminders()).toEqual([]);
  await jumpTo(before(14) + 1000);
  await areReminded();
  expect(reminders()[0]).toBe(
    `🔑 ${file} (acme) expires on TIME.\nCreate a new key and put it into the file; that needs no restart. Set its date in the settings.\nI'll remind you 14, 7 and 1 days ahead.`,
  );
  await jumpTo(before(8));
  expect(reminders()).toHaveLength(1);
  await jumpTo(before(7) + 1000);
  await areReminded();
  // A process that starts finds what the others sent.
  from = 1;
  await start();
  await expect.poll(() => bots[2]?.output()).toContain('an API key expires soon');
  await jumpTo(before(1) + 1000);
  await areReminded();
});

test('a key that was replaced in its file has another date', async () => {
  const { world, file, reminders } = await worldWithDate(`{ env: BETA_KEY, expires: ${EXPIRES} }`);
  world.platform.renewKey();
  writeFileSync(file, world.platform.apiKey);
  await world.jumpTo(before(1) + 1000);
  // It would come after that of acme.
  await world.slack.until(() => reminders().length > 0);
  expect(reminders()).toEqual([
    expect.stringContaining(
      'BETA_KEY (beta) expires on TIME.\nCreate a new key, set it and its date in the settings, and restart me.',
    ),
  ]);
});
