import type { Message } from '../slack/blocks.ts';

/** An error whose message is meant for the person who asked. Everything else shows a reference only. */
export class TellUser extends Error {
  override readonly name = 'TellUser';
  readonly told: Message;

  constructor(told: Message) {
    super(told.text);
    this.told = told;
  }
}
