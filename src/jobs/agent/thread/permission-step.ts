import { contactsText } from '../../ask-whom.ts';
import type { JobContext } from '../../context.ts';
import type { Instruction } from './instruction.ts';
import type { ThreadRun } from './record.ts';
import { dropAuthor } from './transitions.ts';

/** Whether an instruction may go out. `refused` gives the thread without what its author may no longer send. */
type SendPermission = { kind: 'allowed' } | { kind: 'unknown' } | { kind: 'refused'; thread: ThreadRun };

/** Asked right before an instruction goes out: it may have waited for hours since its author was let in. */
export async function checkPermission(
  thread: ThreadRun,
  { by }: Instruction,
  { policy }: Pick<JobContext, 'policy'>,
): Promise<SendPermission> {
  const verdict = await policy.check(by.id, 'agent');
  if (verdict.kind !== 'refused') return { kind: verdict.kind };
  return {
    kind: 'refused',
    thread: dropAuthor(thread, by.id, contactsText(verdict.ask, policy.isOpen('agent'))),
  };
}
