import { createStandInSlack } from '../slack/slack.ts';
import { clientOf, type Received, type Reply, startTinyBot, widerManifest } from './bot.ts';

export const plain = (text: string) => ({ type: 'plain_text', text });

const input = (id: string, element: object, rest: object = {}) => ({
  type: 'input',
  block_id: id,
  label: plain(`The ${id}`),
  element: { action_id: 'value', ...element },
  ...rest,
});

export const modal = (rest: object = {}) => ({
  type: 'modal',
  title: plain('Settings'),
  submit: plain('Save'),
  close: plain('Cancel'),
  callback_id: 'settings',
  private_metadata: 'p',
  blocks: [
    input('name', { type: 'plain_text_input' }),
    input(
      'day',
      { type: 'static_select', options: [{ text: plain('Monday'), value: 'mon' }] },
      { optional: true },
    ),
  ],
  ...rest,
});

/** Slack with a bot that answers views by `reply`, and a person who has them opened by a command. */
export async function startViews(reply?: (received: Received) => Reply) {
  const clock = { ms: Date.UTC(2026, 8, 14, 9) };
  const slack = createStandInSlack({ now: () => clock.ms, manifest: widerManifest({ homeTab: true }) });
  const bot = await startTinyBot(reply);
  slack.botUrl = bot.url;
  const web = clientOf(slack);
  const ana = slack.person('ana');
  const trigger = async () => {
    await ana.types('#docs', '/docs-export');
    return bot.received.at(-1)?.form.trigger_id ?? '';
  };
  const opens = async (view: object) => web.apiCall('views.open', { trigger_id: await trigger(), view });
  return { clock, slack, bot, web, ana, trigger, opens };
}
