import { createStandInSlack, type StandInSlackOptions } from '../slack/slack.ts';
import { clientOf, type Received, type Reply, startTinyBot, widerManifest } from './bot.ts';

/** The stand-in Slack with a tiny bot that answers each request as `reply` says, and whoever acts in it. */
export async function requestSetting(
  reply?: (received: Received) => Reply | Promise<Reply>,
  options: StandInSlackOptions = {},
) {
  const clock = { ms: Date.UTC(2026, 8, 14, 9) };
  // Events would come between the requests that these tests are about.
  const manifest = widerManifest({ events: [] });
  const slack = createStandInSlack({ now: () => clock.ms, manifest, ...options });
  const bot = await startTinyBot(reply);
  slack.botUrl = bot.url;
  const web = clientOf(slack);
  const refresh = {
    type: 'button' as const,
    action_id: 'refresh',
    text: { type: 'plain_text' as const, text: 'Refresh' },
  };
  const card = async (where = '#docs') => {
    await web.chat.postMessage({
      channel: slack.channel(where).id,
      text: 'Running',
      blocks: [
        { type: 'section', text: { type: 'mrkdwn', text: '*Running*' } },
        { type: 'actions', block_id: 'buttons', elements: [{ ...refresh, value: 'v' }] },
      ],
    });
    const sent = slack.messages.at(-1);
    if (!sent) throw new Error('nothing was sent');
    return sent;
  };
  const respond = async (url: unknown, body: unknown) => {
    const answer = await slack.fetch(String(url), { method: 'POST', body: JSON.stringify(body) });
    return `${answer.status} ${JSON.stringify(await answer.json())}`;
  };
  return { clock, slack, bot, web, card, respond, ana: slack.person('ana') };
}
