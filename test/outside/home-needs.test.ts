import { describe, expect, test } from 'vitest';
import { createRunStore } from '../../src/store/runs.ts';
import { agentsOn, SEND } from '../support/flows/agent-stage.ts';
import { plain } from '../support/flows/reading.ts';
import { type Stage, stage } from '../support/flows/stage.ts';
import { anEnding, aRun, ended } from '../support/jobs/export/builders.ts';

type PersonName = Parameters<Stage['person']>[0];

/** How tests read Homes and modals. */
function homesOn(scene: Stage) {
  const { person } = scene;
  const home = (who: PersonName) => {
    const view = person(who).home();
    return view === undefined ? '' : plain(person(who).reads(view));
  };
  const modal = (who: PersonName) => plain(person(who).reads(person(who).modal()));
  const untilHome = (who: PersonName, part: string, there = true) =>
    scene.slack.until(() => home(who) !== '' && home(who).includes(part) === there, 20_000, part);
  return {
    home,
    modal,
    untilHome,
    published: () => scene.slack.wire.calls.filter(({ name }) => name === 'views.publish').length,
    async opensHome(who: PersonName) {
      const before = person(who).home();
      await person(who).opensHome();
      await scene.slack.until(() => person(who).home() !== before);
    },
    /** Clicks [Answer] on Home. */
    async answers(who: PersonName, below?: string) {
      const view = person(who).home();
      if (view === undefined) throw new Error('no Home');
      await person(who).clicks(view, 'Answer', below === undefined ? {} : { below });
      return modal(who);
    },
    async clicksModal(who: PersonName, button: string) {
      const view = person(who).modal();
      if (view === undefined) throw new Error('no modal');
      await person(who).clicks(view, button);
    },
  };
}

describe('beginning on Home', () => {
  const scene = stage();
  const { person, until } = scene;
  const { modal, opensHome } = homesOn(scene);
  const clicksHome = (who: PersonName, button: string) => {
    const view = person(who).home();
    if (view === undefined) throw new Error('no Home');
    return person(who).clicks(view, button);
  };

  test('an export goes to the direct messages with the bot', async () => {
    await opensHome('ana');
    await clicksHome('ana', 'Export a site');
    expect(modal('ana')).toContain('Progress shows in your direct messages with me.');
    await person('ana').submits({ Domain: 'docs.acme.com' });
    expect(person('ana').modal()).toBeUndefined();
    await until(['⏳ Exporting · docs.acme.com', '42%'], '@ana');
    scene.platform.finish('docs.acme.com');
    await until([', took', '[Download]'], '@ana');
    expect(scene.notified('ana')).toBe(1);
  });

  test('a digest is set up by the same modal as by its command', async () => {
    await opensHome('ana');
    await clicksHome('ana', 'Set up a digest');
    expect(modal('ana')).toMatch(/^Set up a digest\n/);
    await person('ana').closes();
  });

  test('whose permission is gone reads why, in a modal', async () => {
    await opensHome('ana');
    const view = person('ana').home();
    const user = scene.slack.workspace.users.find(({ name }) => name === 'gus');
    expect(user).toBeDefined();
    await opensHome('gus');
    const forged = { ...person('gus').home(), blocks: view?.blocks } as NonNullable<typeof view>;
    await person('gus').clicks(forged, 'Export a site');
    expect(modal('gus')).toMatch(/^Docket\nYou can't start exports here/);
  });
});

describe('export start: outcome unknown, on Home', () => {
  const scene = stage();
  const { asks, person, until, clicks } = scene;
  const { home, modal, opensHome, untilHome, answers, clicksModal } = homesOn(scene);
  const lose = () =>
    scene.platform.wire.order('POST /v1/static-export/jobs', { kind: 'reset', when: 'after' });
  const LINE = '⚠️ Start unclear · Did the export of docs.acme.com start?';

  test('comes by itself to an open Home, is answered there once, and goes', async () => {
    await opensHome('ana');
    lose();
    await asks();
    await untilHome('ana', LINE);
    expect(home('ana')).toMatch(/^Needs you \(1\)\n/);
    expect(await answers('ana')).toMatch(
      /^Needs you\n❔ @ana Did the export of docs\.acme\.com start\?[\s\S]*\[It started: watch it\] \[Start anyway\] \[Don't start again\]/,
    );
    const view = person('ana').modal();
    expect(view && person('ana').asked(view, 'Start anyway')?.text).toContain('pages twice');
    await Promise.all([clicksModal('ana', 'Start anyway'), clicks('ana', '❔ @ana', 'Start anyway')]);
    await until(['42%', 'ana started it anyway']);
    expect(scene.platform.starts).toHaveLength(2);
    await untilHome('ana', LINE, false);
  });

  test('stays there however much was asked for since, also of a schedule, whose exports Home does not list', async () => {
    await asks('/docs-export schedule');
    await person('ana').submits({ Domain: 'docs.acme.com', Channel: '#docs', Day: 'Every day' });
    await until(['schedule list\n[Run now]']);
    await clicks('ana', 'Not exported yet', 'Run now');
    await until(['⏳ Exporting · docs.acme.com']);
    await scene.slack.until(() => scene.platform.starts.length === 1);
    await opensHome('ana');
    expect(home('ana')).toContain('Scheduled\nExport · docs.acme.com');
    expect(home('ana')).not.toContain('Running now');
    scene.platform.finish('docs.acme.com');
    await until([', took']);
    lose();
    await clicks('ana', 'set up by ana', 'Run now');
    await untilHome('ana', LINE);
    const runs = createRunStore(scene.world.redis.client);
    const { id: teamId } = scene.slack.team;
    for (let n = 0; n < 60; n += 1)
      await runs.accept(aRun({ ...ended(anEnding.left), id: `later-${n}`, claim: `later-${n}`, teamId }));
    await opensHome('ana');
    expect(home('ana')).toContain(LINE);
    await answers('ana');
    await clicksModal('ana', "Don't start again");
    await untilHome('ana', LINE, false);
  });

  test('is watched from there with the job id of somebody who found it', async () => {
    await opensHome('ana');
    lose();
    await asks();
    await untilHome('ana', LINE);
    await answers('ana');
    await clicksModal('ana', 'It started: watch it');
    expect(modal('ana')).toMatch(/^Watch the export\n/);
    const [{ jobId = '' } = {}] = scene.platform.starts;
    await person('ana').submits({ 'Job ID': jobId });
    expect(person('ana').modal()).toBeUndefined();
    await until(['42%', 'It had: ana found it.']);
    expect(scene.platform.starts).toHaveLength(1);
  });

  test('that was answered meanwhile is told as that', async () => {
    await opensHome('ana');
    lose();
    await asks();
    await untilHome('ana', LINE);
    await answers('ana');
    const stale = person('ana').home();
    await clicks('ben', '❔ @ana', "Don't start again");
    await clicksModal('ana', 'Start anyway');
    expect(modal('ana')).toContain('ben already chose not to start it again.');
    if (stale)
      await person('ana')
        .clicks(stale, 'Answer')
        .catch(() => undefined);
    expect(scene.platform.starts).toHaveLength(1);
  });

  test('is published to nobody who never opened Home', async () => {
    const { published } = homesOn(scene);
    lose();
    await asks(undefined, { who: 'ben' });
    await until(['❔ @ben']);
    await clicks('ben', '❔ @ben', "Don't start again");
    await until(['chose not to start it again']);
    expect(published()).toBe(0);
  });
});

describe('replies that are held, and sends without an answer, on Home', () => {
  const scene = stage({ bot: { timing: { docsCallMs: 700, callMarginMs: 100 } } });
  const { opensHome, untilHome, answers, clicksModal, modal } = homesOn(scene);
  const { follows, replies, reacted, sent, plan, instructions, untilBelow } = agentsOn(scene);

  test.each(['#docs', '#private'])('in %s: whoever wrote it answers on Home', async (where) => {
    const { card: root } = await follows({ where });
    await opensHome('ben');
    const held = await replies(root, 'what about v2?', { who: 'ben' });
    await reacted(held, 'double_vertical_bar');
    await untilHome('ben', '⏸ Is this for the agent? · "what about v2?"');
    expect(await answers('ben')).toContain(
      'Is this for the agent? · "what about v2?"\nYour answer applies to all your held replies here.\n[Send] [Don\'t send] [Always send mine]',
    );
    await clicksModal('ben', 'Send');
    expect(modal('ben')).toMatch(/^Needs you\nIt goes to the agent\./);
    expect(await sent(1)).toEqual(['what about v2?']);
    await untilHome('ben', 'Is this for the agent?', false);
  });

  test('a send that nobody knows of', async () => {
    const { jobId, card: root } = await follows();
    await opensHome('ana');
    plan(jobId);
    scene.platform.wire.order(SEND, { kind: 'reset', when: 'before' });
    await replies(root, 'Add a section about errors');
    await untilHome('ana', '❔ Did this reach the agent? · "Add a section about errors"');
    expect(await answers('ana')).toContain("[Check now] [Send anyway] [Don't send again]");
    await clicksModal('ana', "Don't send again");
    expect(modal('ana')).toMatch(/^Needs you\nDone\. The result appears in its thread\./);
    await untilBelow(root, 'Decided by ana');
    expect(instructions()).toEqual([]);
    await untilHome('ana', 'Did this reach the agent?', false);
  });
});
