import type { Message } from '../slack/blocks.ts';

/** An error whose message is for the requester. All other errors show only a reference. */
export class UserFacingError extends Error {
  override readonly name = 'UserFacingError';
  readonly reply: Message;

  constructor(reply: Message) {
    super(reply.text);
    this.reply = reply;
  }
}
