import type { ThreadRun } from '../../../../src/jobs/agent/thread/record.ts';
import { threadMessages } from '../../../../src/jobs/agent/thread/view.ts';
import { reads } from '../../slack/rendering.ts';

/** The message of a thread whose key goes on with `part`, as a person reads it. */
export function messageOf(thread: ThreadRun, part: string): string | undefined {
  const shown = threadMessages(thread).find(({ key }) => key === `${thread.id}.${part}`);
  return shown && reads(shown.message);
}
