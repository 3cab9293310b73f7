import { z } from 'zod';
import type { ButtonParts } from '../../../slack/blocks.ts';
import { LABELS } from '../../shared/wording-view.ts';

/** Action ids of the buttons of a followed thread whose clicks go into its inbox, see `record.ts`. */
const clickActions = {
  send: 'agent.send',
  notForAgent: 'agent.not_for_agent',
  always: 'agent.always',
  sendWithBackground: 'agent.send_with_background',
  sendAlone: 'agent.send_alone',
  discard: 'agent.discard',
  sendOnlyTheirs: 'agent.send_only_theirs',
  cancel: 'agent.cancel',
  sendNow: 'agent.send_now',
  keepWaiting: 'agent.keep_waiting',
  sendAgain: 'agent.send_again',
  sendAnyway: 'agent.send_anyway',
  leave: 'agent.leave',
  checkJob: 'agent.check_job',
  onlyMentioned: 'agent.only_mentioned',
  allReplies: 'agent.all_replies',
  stop: 'agent.stop',
} as const;

export const threadClicks = Object.keys(clickActions) as (keyof typeof clickActions)[];

export const agentActions = {
  ...clickActions,
  openPullRequest: 'agent.open_pull_request',
  startNew: 'agent.start_new',
  startAlone: 'agent.start_alone',
  startWithBackground: 'agent.start_with_background',
  showBackground: 'agent.show_background',
  instruct: 'agent.instruct',
  details: 'agent.details',
  askStop: 'agent.ask_stop',
  dismiss: 'agent.dismiss',
  followAgain: 'agent.follow_again',
  tryAgain: 'agent.try_again',
  openThread: 'agent.open_thread',
} as const;

/** The value of a button of a thread; `run` is the thread's. For `about` and `attempt` see `record.ts`. */
export const threadButton = z.object({
  v: z.literal(1),
  run: z.string(),
  about: z.array(z.string()),
  attempt: z.number().int(),
});

/** So many ids fit in the value of a button: none has more than 40 characters. */
const MAX_IDS = 40;

/** Returns a button of this thread; `about` and `attempt` as in `threadEvent`. */
export const threadButtonOf = (
  { id: run }: { id: string },
  label: string,
  action: string,
  about: string[] = [],
  attempt = 1,
): ButtonParts => {
  const value: z.infer<typeof threadButton> = { v: 1, run, about: about.slice(0, MAX_IDS), attempt };
  return { label, action, value: JSON.stringify(value) };
};

/** The value of the buttons under a mention. */
export const mentionButton = z.object({ v: z.literal(1), mention: z.string() });

export const checkButton = (thread: { id: string }) =>
  threadButtonOf(thread, LABELS.checkNow, agentActions.checkJob);

/** Returns the button that ends the thread for everybody, after a confirmation; `lost` says what is dropped. */
export const stopButton = (thread: { id: string }, lost = 'Waiting requests are dropped.') => ({
  ...threadButtonOf(thread, 'Stop following', agentActions.stop),
  confirm: {
    title: 'Stop following?',
    text: `Replies here will no longer reach the agent, for anyone. Work already sent continues. ${lost}`.trim(),
    yes: 'Stop following',
    no: 'Cancel',
  },
});
