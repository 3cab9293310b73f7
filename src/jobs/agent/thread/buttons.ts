import { z } from 'zod';

/** Ids of the listeners of the buttons under the messages of a thread. */
export const agentActions = {
  send: 'agent.send',
  notForAgent: 'agent.not_for_agent',
  always: 'agent.always',
  discard: 'agent.discard',
  sendAgain: 'agent.send_again',
  leave: 'agent.leave',
  checkJob: 'agent.check_job',
  checkNow: 'agent.check_now',
  onlyMentioned: 'agent.only_mentioned',
  allReplies: 'agent.all_replies',
  stop: 'agent.stop',
  openPullRequest: 'agent.open_pull_request',
  startNew: 'agent.start_new',
} as const;

/** What a button of a thread carries; see `heard.ts`. */
export const threadButton = z.object({
  v: z.literal(1),
  run: z.string(),
  about: z.array(z.string()).default([]),
  attempt: z.number().int().default(1),
});
export type ThreadButton = z.infer<typeof threadButton>;
