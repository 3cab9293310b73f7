import { plain } from './reading.ts';
import type { World } from './world.ts';

/**
 * Types `/docs-status`, clicks [Details], and returns the lines that are shown in place of the status. `between` is what
 * happens before the click.
 */
export async function statusDetails(
  { slack }: Pick<World, 'slack'>,
  who: Parameters<World['slack']['person']>[0] = 'ana',
  tidy = plain,
  between = async () => {},
): Promise<string[]> {
  const { ephemeral } = await slack.person(who).types('#docs', '/docs-status');
  if (ephemeral === undefined) throw new Error('no status');
  await between();
  await slack.person(who).clicks(ephemeral, 'Details');
  const shown = () =>
    slack.ephemerals.findLast(
      ({ ts, to, deleted }) => ts === ephemeral.ts && to === ephemeral.to && !deleted,
    );
  const lines = () => tidy(slack.read(shown() ?? ephemeral)).split('\n');
  await slack.until(() => lines().some((line) => line.startsWith('This process')));
  return lines();
}
