/** What the demo tells its bot: how far the demo's time is ahead of this machine's. */
export interface ToBot {
  aheadMs: number;
}

/** What the bot tells the demo: that it is up, and that its clock was moved. */
export type FromBot = { is: 'up' } | { is: 'moved'; aheadMs: number };
