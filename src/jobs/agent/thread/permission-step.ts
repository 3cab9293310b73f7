import { contactsText } from '../../ask-whom.ts';
import type { JobContext } from '../../context.ts';
import { addNote, dropInstruction, isPending, mapInstructions } from './changes.ts';
import { MAX_LISTED } from './phrases.ts';
import type { Instruction, ThreadRun } from './record.ts';

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
    thread: withoutAuthor(thread, by.id, contactsText(verdict.ask, policy.isOpen('agent'))),
  };
}

/** The thread without everything of one person that is not sent yet. They are told what it was, and whom to ask. */
function withoutAuthor(thread: ThreadRun, userId: string, ask: string): ThreadRun {
  const dropped = thread.instructions.filter((one) => isPending(one) && one.by.id === userId);
  const ids = new Set(dropped.map(({ id }) => id));
  const excerpts = dropped.slice(0, MAX_LISTED).map(({ excerpt }) => excerpt);
  return addNote(
    mapInstructions(thread, (one) => (ids.has(one.id) ? dropInstruction(one, 'discarded') : one)),
    {
      id: `noLongerAllowed ${dropped[0]?.id}`,
      to: userId,
      kind: 'noLongerAllowed',
      about: ask,
      excerpt: excerpts.join('\n'),
      more: dropped.length - excerpts.length,
    },
  );
}
