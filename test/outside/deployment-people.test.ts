import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import type { SentMessage, User } from '../../demo/slack/workspace.ts';
import { deploymentStage, exportedText, signatureOf } from '../support/flows/receiver.ts';
import { strikeAt } from '../support/flows/strike-at.ts';

type PersonName = 'ana' | 'ben' | 'gus' | 'sue' | 'eve';

const REFUSED = "You can't deploy here, so nothing was sent. Ask @docs-admins.";
const site = 'docs.acme.com v1';
/** Actions that the message of a sent export does not offer. */
const FORGED = ['again', 'redeploy', 'start_anyway', 'go_back', 'ran', 'leave'];

describe('who may deploy', async () => {
  const { scene, receiver, exports, deploys, asksFor } = await deploymentStage({
    allow: 'deploy: [S0DOCS]',
    link: true,
    timing: { permissionCacheMs: 0 },
  });
  const { until, clicks, sees, person, toldLast, audit, messageWith } = scene;
  const setGroup = (...users: string[]) =>
    scene.world.slack.workspace.userGroups.set('S0DOCS', { handle: 'docs-admins', users });
  afterEach(() => setGroup('U0ANA'));

  /** Somebody clicks a button that no client offers. */
  function forges(who: PersonName, beside: SentMessage, action: string, value: object) {
    const text = { type: 'plain_text', text: 'Forged' };
    const button = { type: 'button', action_id: action, value: JSON.stringify(value), text };
    const blocks = [{ type: 'actions', block_id: 'forged', elements: [button] }];
    return person(who).clicks({ ...beside, blocks } as SentMessage, 'Forged');
  }
  const updateOf = (exported: SentMessage, deployment: string) => {
    const [, run] = /\\"run\\":\\"(\w+)\\"/.exec(JSON.stringify(exported.blocks)) ?? [];
    return { v: 1, run, deployment };
  };

  test('only they see the button, under their exports and in the modal', async () => {
    setGroup('U0ANA');
    const own = await exports('v1', '', 'ben');
    expect(own.join('\n')).toContain('Helm values]');
    expect(own.join('\n')).not.toContain('Deploy to production');
    for (const [who, sees] of [
      ['ben', false],
      ['ana', true],
    ] as const) {
      await clicks(who, exportedText(), 'Helm values');
      const read = person(who).reads(await scene.slack.until(() => person(who).modal()));
      expect([who, read.includes('[Deploy to production]')]).toEqual([who, sees]);
      if (!sees) await person(who).closes();
    }
    await person('ana').clicks(person('ana').modal() as never, 'Deploy to production');
    expect(person('ana').reads(person('ana').modal())).toContain(
      `Deploying ${site} to production: see the thread of this export.`,
    );
    await until([`📨 Sent to production · ${site}\nTIME · Requested by ana`]);
  });

  test.each<[string, PersonName, Partial<User>]>([
    ['a full member', 'ben', {}],
    ['a guest', 'gus', {}],
    ['a single-channel guest', 'sue', {}],
    ['somebody of another organization', 'eve', {}],
    ['somebody deactivated who is on the list', 'ben', { id: 'U0DEE', name: 'dee', deleted: true }],
    ['a bot that is on the list', 'ben', { id: 'U0ROB', name: 'rob', isBot: true }],
  ])('%s is refused on every button, real or forged', async (_, name, special) => {
    setGroup('U0ANA', 'U0DEE', 'U0ROB');
    const user = scene.world.slack.workspace.users.find((one) => one.name === name) as User;
    const before = { ...user };
    Object.assign(user, special);
    onTestFinished(() => void Object.assign(user, before));
    for (const { members } of scene.world.slack.workspace.channels) members.add(user.id);
    await deploys('v1');
    await until(['Sent to production']);
    const exported = messageWith(exportedText());
    const [, update] = /msg_([0-9a-f]+)_/.exec(receiver.received[0]?.id ?? '') ?? [];
    const shown = scene.slack.messages.length;
    const about = { v: 1, update, attempt: 1 };
    for (const click of [
      () => clicks(name, exportedText(), 'Deploy to production'),
      () => clicks(name, 'Sent to production', 'Deploy again'),
      ...FORGED.map((act) => () => forges(name, exported, `deployment.${act}`, about)),
      () => forges(name, exported, 'deployment.update_5', updateOf(exported, 'production')),
    ]) {
      await click();
      const last = scene.slack.ephemerals.at(-1);
      expect(last?.to === user.id && scene.slack.read(last)).toBe(REFUSED);
    }
    expect(scene.slack.messages).toHaveLength(shown);
    expect(receiver.received).toHaveLength(1);
    const refused = (await audit()).filter((line) => line.includes('refused'));
    expect(refused).toEqual(
      ['update_1', 'redeploy', ...FORGED, 'update_5'].map(
        (action) => `${user.name} deployment.${action}  → refused: not permitted`,
      ),
    );
  });

  test('who may, but makes up a deployment, deploys to none', async () => {
    await exports('v1');
    const exported = messageWith(exportedText());
    for (const name of ['staging', '__proto__', 'constructor', ' production', '']) {
      await forges('ana', exported, 'deployment.update_1', updateOf(exported, name));
      expect(toldLast('ana')).toMatch(/^My settings no longer have this deployment/);
    }
    expect(receiver.received).toEqual([]);
  });

  test('who loses the permission after the click alone sees it', async () => {
    await exports('v1');
    strikeAt([scene.slack], { call: 'usergroups.users.list', phase: 'after' }, () => setGroup('U0BEN'));
    await asksFor('v1');
    await until([`❌ Not deployed to production · ${site}\nRequested by ana`]);
    await until(
      [`❌ Not deployed to production · ${site}\nYou can't deploy here any more. Ask @docs-admins.`],
      '@ana',
    );
    expect(sees().join('\n')).not.toContain('any more');
    expect(receiver.received).toEqual([]);
    expect(await audit()).toContain(`ana deployment production · ${site} → ended: permission`);
  });

  test('gets no link by it: only the deployment does, and people keep their own', async () => {
    await deploys('v1', ' --private');
    await until([`📨 Sent to production · ${site}`]);
    const { bundleUrl = '' } = receiver.received[0]?.data ?? {};
    expect((await fetch(bundleUrl)).status).toBe(200);
    const shown = JSON.stringify(scene.slack.messages.map(({ blocks }) => blocks));
    expect(shown).toContain('X-Signature=');
    expect(shown).not.toContain(signatureOf(bundleUrl));
  });
});
