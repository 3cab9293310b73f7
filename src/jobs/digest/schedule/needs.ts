import { message, type Part } from '../../../slack/blocks.ts';
import { sanitizeUserText } from '../../../slack/text.ts';
import type { Need, RunNeeds } from '../../feature.ts';
import type { ScheduleRun } from './record.ts';
import { failedMessage, goesOnMessage, notPermittedMessage } from './view.ts';

/** Only the owner sees these, and has to act: a digest that could not be posted, or a lost permission. */
export const scheduleNeeds: RunNeeds<ScheduleRun> = {
  of(run) {
    const kind = kindOf(run);
    return kind === undefined ? [] : [{ user: run.owner.id, id: kind }];
  },
  line(run, { id }) {
    const digest: Part[] = [`the digest of ${sanitizeUserText(run.site, 80)} in `, { channel: run.channel }];
    return id === 'permission'
      ? ['⏸ ', { bold: 'Paused' }, ' · you may no longer set up ', ...digest]
      : ['❌ ', { bold: 'Digest failed' }, ' · I could not post ', ...digest];
  },
  question: (run, { id }) => (id === 'permission' ? notPermittedMessage(run) : failedMessage(run)),
  answered(run) {
    if (run.state === 'removed') return message([['This digest was already removed.']]);
    return run.posting === undefined ? goesOnMessage(run) : message([['This digest is on its way.']]);
  },
};

/** A person who has a digest sent again first sees its result. */
function kindOf(run: ScheduleRun): Need['id'] | undefined {
  if (run.state === 'removed' || run.state === 'testing' || run.ownerLeft) return undefined;
  if (run.pausedByPermission) return 'permission';
  return run.failures > 0 && run.posting === undefined ? `failed ${run.failure?.week}` : undefined;
}
