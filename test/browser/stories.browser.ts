import { expect, test } from 'vitest';
import { describeVisit, plays } from './describe-visit.ts';

describeVisit('a visitor of the tour', (shared) => {
  const { arrives } = shared;

  test('sees every story at 768 px, twice; the tour keeps its width when the window narrows', {
    timeout: 600_000,
  }, async () => {
    const visitor = await arrives();
    const button = visitor.page.locator('.tour button').first();
    const widthOf = async () => (await button.boundingBox())?.width;
    const wide = await widthOf();
    await visitor.page.setViewportSize({ width: 768, height: 900 });
    expect(await widthOf()).toBe(wide);
    const { site, agent } = shared.visit.demo.world.platform;
    const stories: [name: string, end: RegExp][] = [
      ['The docs agent', /who merged it/],
      ['Earlier messages', /knew what the conversation was about/],
      ['A weekly digest', /posted once/],
      ['Did it help?', /no promises/],
      ['Now break it', /ends once/],
    ];
    for (const [story, end] of [...stories, ...stories]) {
      // Docket's private word that the digest is set up comes late. The clock may not move before.
      if (story === 'A weekly digest')
        shared.visit.demo.world.slack.wire.order('response_url', { kind: 'delay', ms: 2000 });
      const captions = await plays(visitor, story, true);
      expect([story, captions.at(-1)?.line]).toEqual([story, expect.stringMatching(end)]);
      if (story === 'The docs agent') {
        const prompts = agent.messages.map(({ prompt }) => prompt);
        expect(prompts.slice(-2)).toEqual([
          expect.stringContaining('error handling'),
          expect.stringContaining('timeouts'),
        ]);
        expect(shared.visit.demo.world.gitHost?.pulls.at(-1)?.state).toBe('merged');
        expect(site.builds.slice(-2).map(({ branch }) => branch)).toEqual(
          Array(2).fill('agent/quickstart-example'),
        );
      }
      if (story === 'Did it help?')
        await visitor.reads(visitor.thread, / without a click \S+ → \S+ a week(?!, no clear)/);
      if (story === 'Earlier messages')
        expect(agent.messages.findLast(({ prompt }) => prompt.startsWith('Add this'))?.prompt).toMatch(
          /^Add this to the webhooks guide\n\nQuoted messages are background/,
        );
      await visitor.page.getByRole('button', { name: 'Close', exact: true }).click();
    }
    await visitor.page.context().close();
  });
});
