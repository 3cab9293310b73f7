/** What the demo sends to its bot: how far the demo's time is ahead of this machine's. */
export interface ToBot {
  aheadMs: number;
}

/** What the bot sends to the demo: that it is up, and that its clock was moved. */
export type FromBot = { is: 'up' } | { is: 'moved'; aheadMs: number };
