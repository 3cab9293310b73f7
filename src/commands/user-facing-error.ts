import type { Message } from '../slack/blocks.ts';

/** An error whose message is meant for the person who asked. Everything else shows a reference only. */
export class UserFacingError extends Error {
  override readonly name = 'UserFacingError';
  readonly reply: Message;

  constructor(reply: Message) {
    super(reply.text);
    this.reply = reply;
  }
}
