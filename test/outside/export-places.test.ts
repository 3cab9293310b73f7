import { describe, expect, test } from 'vitest';
import { stage } from '../support/flows/stage.ts';

describe('where it is asked', () => {
  const scene = stage();
  const { asks, exporting, person, sees, until, notified } = scene;

  test('a private channel with the bot in it gets it like any other', async () => {
    await exporting(undefined, { where: '#private' });
  });

  test('the direct messages with the bot get it, link and all', async () => {
    await exporting('/docs-export docs.acme.com --private', { where: '@ana' });
    scene.platform.finish('docs.acme.com');
    await until([', took', '[Download]', '✅ Exported · docs.acme.com'], '@ana');
    expect(scene.slack.messages).toHaveLength(3);
  });

  test('a conversation that the bot cannot join: it goes to the person', async () => {
    await asks(undefined, { where: 'ana+ben' });
    await until(['⏳ Exporting · docs.acme.com', '42%'], '@ana');
    scene.platform.finish('docs.acme.com');
    await until([', took'], '@ana');
    expect(sees('ana+ben')).toEqual([]);
  });

  test.each(['#elsewhere', '#secret'])(
    '%s, without the bot: told privately, and nothing is started',
    async (where) => {
      await asks(undefined, { where });
      expect(await until(['post here'], where)).toEqual([
        "I can't post here yet, so nothing was started. Type /invite @Docket, then run the command again.",
      ]);
      expect(scene.platform.starts).toEqual([]);
      await person('ana').types(where, '/invite @Docket');
      await exporting(undefined, { where });
      expect(scene.platform.starts).toHaveLength(1);
    },
  );

  test('a channel whose ending can no longer be posted: the ending goes to the person, with the fix', async () => {
    await exporting();
    scene.slack.channel('#docs').archived = true;
    scene.platform.finish('docs.acme.com');
    const texts = await until([', took'], '@ana');
    expect(texts).toEqual([
      expect.stringMatching(/^I couldn't post this in the channel: it's archived.\n✅ @ana/),
    ]);
    expect(notified('ana')).toBe(1);
  });
});

describe('what people are called', () => {
  const scene = stage();

  test('a person who is named like a mention mentions nobody', async () => {
    const user = scene.slack.workspace.users.find(({ name }) => name === 'ben');
    if (user) Object.assign(user, { name: 'x<!channel>', realName: '<!channel> @here *b* <@U0ANA>' });
    await scene.exporting(undefined, { who: 'ben' });
    expect(scene.slack.messages.flatMap(({ notifies }) => notifies)).toEqual([]);
  });
});
