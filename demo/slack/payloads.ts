import type { Control } from './controls.ts';
import type { Inside } from './inside.ts';
import { messageJson } from './message-json.ts';
import { type Channel, type Ephemeral, isMessage, type SentMessage, type User } from './workspace.ts';

/** The name that commands and interactions carry: Slack hides the real one of private conversations. */
function payloadChannelName({ kind, name }: Channel): string {
  if (kind === 'im') return 'directmessage';
  return kind === 'private' ? 'privategroup' : name;
}

/** A slash command's form (https://docs.slack.dev/interactivity/implementing-slash-commands). */
export function commandFields(
  { workspace, tokens }: Inside,
  user: User,
  channel: Channel,
  rest: { command: string; text: string; response_url: string; trigger_id: string },
): Record<string, string> {
  return {
    token: tokens.verification,
    team_id: workspace.team.id,
    team_domain: workspace.team.domain,
    channel_id: channel.id,
    channel_name: payloadChannelName(channel),
    user_id: user.id,
    user_name: user.name,
    command: rest.command,
    text: rest.text,
    api_app_id: workspace.bot.appId,
    is_enterprise_install: 'false',
    response_url: rest.response_url,
    trigger_id: rest.trigger_id,
  };
}

/**
 * What all interactions have in common. `team` is where the app is installed, also when somebody of another
 * organization clicks (slackapi/java-slack-sdk#1041); of a modal's submission it is that person's own, and only
 * `view.app_installed_team_id` has the other (slackapi/bolt-js#1614).
 */
export function interaction({ workspace, tokens }: Inside, type: string, user: User) {
  const { team } = workspace;
  const foreign = type.startsWith('view_') && user.team !== team.id;
  return {
    type,
    user: { id: user.id, username: user.name, name: user.name, team_id: user.team },
    api_app_id: workspace.bot.appId,
    token: tokens.verification,
    team: foreign ? { id: user.team, domain: user.team.toLowerCase() } : { id: team.id, domain: team.domain },
    enterprise: null,
    is_enterprise_install: false,
  };
}

/** Where a click happened; ephemeral messages are not sent along, ordinary ones are. */
export function messageOrigin(inside: Inside, channel: Channel, target: SentMessage | Ephemeral) {
  const ephemeral = !isMessage(target);
  return {
    container: {
      type: 'message',
      message_ts: target.ts,
      channel_id: channel.id,
      is_ephemeral: ephemeral,
      ...(target.threadTs !== undefined && { thread_ts: target.threadTs }),
    },
    channel: { id: channel.id, name: payloadChannelName(channel) },
    ...(!ephemeral && { message: messageJson(inside, target) }),
  };
}

/** The entry in `actions` for a control that was used, with what was chosen. */
export function actionOf(
  { blockId, element }: Control,
  chosen: Record<string, unknown>,
  actionTs: string,
): Record<string, unknown> {
  const { type, action_id: actionId, text, value, url, confirm } = element;
  return {
    action_id: actionId,
    block_id: blockId,
    ...(text !== undefined && { text }),
    ...(value !== undefined && { value }),
    ...(url !== undefined && { url }),
    ...(confirm !== undefined && { confirm }),
    type,
    action_ts: actionTs,
    ...chosen,
  };
}

/** The envelope of an event (https://docs.slack.dev/apis/events-api). */
export function eventEnvelope(
  { workspace, tokens }: Inside,
  event: Record<string, unknown>,
  options: { shared?: boolean; eventId?: string } = {},
): Record<string, unknown> & { event_id: string } {
  const { team, bot } = workspace;
  return {
    token: tokens.verification,
    team_id: team.id,
    context_team_id: team.id,
    context_enterprise_id: null,
    api_app_id: bot.appId,
    event,
    type: 'event_callback',
    event_id: options.eventId ?? workspace.newId('Ev'),
    event_time: Math.floor(workspace.nowMs() / 1000),
    authorizations: [
      {
        enterprise_id: null,
        team_id: team.id,
        user_id: bot.userId,
        is_bot: true,
        is_enterprise_install: false,
      },
    ],
    is_ext_shared_channel: options.shared ?? false,
    event_context: `4-${bot.appId}`,
  };
}
