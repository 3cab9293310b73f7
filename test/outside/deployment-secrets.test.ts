import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { deploymentStage } from '../support/flows/receiver.ts';
import { temporaryFolder } from '../support/flows/world.ts';

const newSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const live = { state: 'live' };

describe('while a secret is replaced', async () => {
  const next = newSecret();
  const { scene, receiver, deploys } = await deploymentStage({
    secret: '[{ env: NEXT_SECRET }, { env: DEPLOY_SECRET }]',
    env: { NEXT_SECRET: next },
  });

  test('the receiver may have either, and call back with either', async () => {
    await deploys('v1');
    await scene.until(['Sent to production']);
    expect(await receiver.callsBack(live)).toBe('204');
    await scene.until(['✅ @ana Live on production']);
    receiver.rotates(next);
    await deploys('v2');
    await scene.until(['Sent to production · docs.acme.com v2']);
    expect(await receiver.callsBack(live)).toBe('204');
    await scene.until(['✅ @ana Live on production · docs.acme.com v2']);
    expect(await receiver.callsBack(live, undefined, { secret: newSecret() })).toMatch(/^401/);
  });
});

describe('a secret in a file', async () => {
  const folder = temporaryFolder();
  afterAll(folder.remove);
  const file = join(folder.path, 'secret');
  const { scene, receiver, deploys } = await deploymentStage({ secret: `{ file: ${file} }` });
  writeFileSync(file, receiver.secret);

  test('is read again when the receiver refuses the one before, and when a callback has another', async () => {
    await deploys('v1');
    await scene.until(['Sent to production']);
    const before = receiver.secret;
    writeFileSync(file, receiver.rotates());
    await deploys('v2');
    await scene.until(['Sent to production · docs.acme.com v2']);
    expect(receiver.received).toHaveLength(2);
    expect(await receiver.callsBack(live)).toBe('204');
    await scene.until(['✅ @ana Live on production · docs.acme.com v2']);
    expect(await receiver.callsBack({ state: 'failed' }, undefined, { secret: before })).toMatch(/^401/);
    // Once for what is sent, once for what comes back.
    const output = scene.world.bots.at(-1)?.output() ?? '';
    expect(output.split('a new token or secret of a deployment was read from its file')).toHaveLength(3);
    for (const secret of [before, receiver.secret])
      expect(output).not.toContain(secret.slice('whsec_'.length));
    expect(scene.sees().join()).not.toContain("doesn't answer");
  });
});
