import { expect, test } from 'vitest';
import { describeVisit, plays } from './describe-visit.ts';

describeVisit('a visitor who has a minute', (shared) => {
  const { arrives } = shared;
  const starts = () => shared.visit.demo.world.platform.starts.length;

  test.each([1440, 390])(
    'sees in a minute, twice in a row, how a version goes live and a digest row becomes a pull request: %i px',
    { timeout: 300_000 },
    async (width) => {
      const visitor = await arrives({ width });
      await visitor.page.getByRole('region', { name: 'Welcome' }).waitFor();
      const { agent } = shared.visit.demo.world.platform;
      const [exports, requests] = [starts(), agent.messages.length];
      const first = await plays(visitor, 'Show me in 60 s', false);
      expect(first.map(({ line }) => line).join()).toMatch(
        /new version[\s\S]*from what readers did not find/,
      );
      expect(first.filter(({ ms }) => ms < 3000)).toEqual([]);
      expect(await visitor.problems()).toEqual([]);
      const versions = [shared.visit.demo.world.deployment?.serves()?.version];
      await visitor.page.getByRole('button', { name: 'Close', exact: true }).click();
      const second = await plays(visitor, 'Show me in 60 s', true);
      versions.push(shared.visit.demo.world.deployment?.serves()?.version);
      expect(second.length).toBe(first.length);
      expect([starts() - exports, agent.messages.length - requests]).toEqual([2, 2]);
      expect(new Set(versions).size).toBe(2);
      await visitor.page.context().close();
    },
  );
});
