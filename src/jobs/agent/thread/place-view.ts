import { type Message, message } from '../../../slack/blocks.ts';

/** To whoever wanted to follow a job where the card cannot be posted. `joinable`: the app can be invited there. */
export function noPlaceMessage(joinable: boolean, code: string): Message {
  if (joinable && (code === 'not_in_channel' || code === 'channel_not_found')) {
    const invite = { code: '/invite @Docket' };
    return message([
      ["I can't post here yet, so nothing was sent. Type ", invite, ', then run the command again.'],
    ]);
  }
  return message([
    [`Slack doesn't let me post here (${code}), so nothing was sent. Run the command in another channel.`],
  ]);
}
