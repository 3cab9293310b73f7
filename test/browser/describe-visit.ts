import { afterAll, afterEach, beforeAll, describe, expect } from 'vitest';
import { beginVisit, type SeenCaption, type Visit, type Visitor, whyNot } from './visitor.ts';

/** What the tests of a file share. */
interface Shared {
  readonly visit: Visit;
  arrives(look?: Parameters<Visit['open']>[0]): Promise<Visitor>;
}

/** Describes visitors of a demo that a file has to itself, so that files can run at once. Says why they are left out. */
export function describeVisit(name: string, tests: (shared: Shared) => void): void {
  const missing = whyNot();
  if (missing) console.warn(`The demo is not tested in a browser. ${missing}`);
  describe.skipIf(missing !== undefined)(name, () => {
    let begun: Visit | undefined;
    const visitors: Visitor[] = [];
    /** What the page itself complained about. */
    const complaints: string[] = [];
    const shared: Shared = {
      get visit() {
        if (begun === undefined) throw new Error('The visit has not begun.');
        return begun;
      },
      async arrives(look) {
        const visitor = await shared.visit.open(look);
        visitors.push(visitor);
        visitor.page.on('pageerror', (error) => complaints.push(error.message));
        visitor.page.on('console', (line) => {
          if (line.type() === 'error') complaints.push(line.text());
        });
        return visitor;
      },
    };
    beforeAll(async () => {
      begun = await beginVisit();
    });
    afterAll(() => begun?.end());
    afterEach(async ({ task }) => {
      if (task.result?.state === 'fail') {
        const here = visitors.filter(({ page }) => !page.isClosed());
        const seen = await Promise.all(here.map((one) => one.sees()));
        const { slack, docket } = shared.visit.demo.world;
        const last = `Slack's last request: ${slack.lastRequest?.what}`;
        console.warn(
          [`What ${task.name} saw:`, ...seen, last, ...(docket?.bot.lastLines() ?? [])].join('\n'),
        );
      }
      expect(complaints).toEqual([]);
      expect(shared.visit.demo.world.slack.violations).toEqual([]);
    });
    tests(shared);
  });
}

/** Plays a story of the tour to its end; with `steps`, the visitor clicks [Go on] instead of waiting. */
export async function plays(visitor: Visitor, story: string, steps: boolean): Promise<SeenCaption[]> {
  const seen = await visitor.watchesCaptions();
  await visitor.page.getByRole('button', { name: story, exact: true }).first().click();
  const box = visitor.page.getByLabel('What the tour shows');
  const [next, close] = ['Go on', 'Close'].map((name) => box.getByRole('button', { name, exact: true }));
  const isOver = async () => {
    if (steps) await next?.click({ timeout: 300 }).catch(() => {});
    return (await close?.count()) === 1;
  };
  await expect.poll(isOver, { timeout: 150_000 }).toBe(true);
  const captions = await seen();
  expect(captions.filter(({ covers }) => covers).map(({ line }) => line)).toEqual([]);
  return captions;
}
