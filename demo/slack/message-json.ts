import type { Inside } from './inside.ts';
import type { Content, SentMessage } from './workspace.ts';

/** A message in the shape that history, events and interactions carry. */
export function messageJson(
  { workspace }: Inside,
  message: SentMessage,
  options: { withMetadata?: boolean; content?: Content } = {},
): Record<string, unknown> {
  const { text, blocks, metadata } = options.content ?? message;
  const { bot, team, users } = workspace;
  const byBot = message.user === bot.userId;
  const replies = repliesTo(workspace.messages, message);
  const root = message.threadTs
    ? workspace.messages.find(({ channel, ts }) => channel === message.channel && ts === message.threadTs)
    : undefined;
  return {
    type: 'message',
    ...(message.files && { subtype: 'file_share', files: message.files }),
    ...(message.broadcast && { subtype: 'thread_broadcast' }),
    user: message.user,
    text,
    ts: message.ts,
    team: users.find(({ id }) => id === message.user)?.team ?? team.id,
    ...(byBot && {
      bot_id: bot.botId,
      app_id: bot.appId,
      bot_profile: { id: bot.botId, app_id: bot.appId, name: 'Docket', team_id: team.id, deleted: false },
    }),
    ...(message.otherBotId && { bot_id: message.otherBotId }),
    ...(message.clientMsgId && { client_msg_id: message.clientMsgId }),
    ...(blocks.length > 0 && { blocks }),
    ...(message.attachments && { attachments: message.attachments }),
    ...(message.threadTs && {
      thread_ts: message.threadTs,
      ...(root && { parent_user_id: root.user }),
    }),
    ...(replies.length > 0 && {
      thread_ts: message.ts,
      reply_count: replies.length,
      reply_users_count: new Set(replies.map(({ user }) => user)).size,
      reply_users: [...new Set(replies.map(({ user }) => user))],
      latest_reply: replies.at(-1)?.ts,
    }),
    ...(message.editedTs && { edited: { user: byBot ? bot.botId : message.user, ts: message.editedTs } }),
    ...(message.reactions.length > 0 && {
      reactions: message.reactions.map(({ name, users: by }) => ({ name, users: by, count: by.length })),
    }),
    ...(options.withMetadata && metadata && { metadata }),
  };
}

/** A message as another one shows it: forwarded, or as the preview of a link to it. */
export function sharedJson(
  { workspace }: Inside,
  { channel: channelId, ts, user, text, blocks, files }: SentMessage,
  as: 'forward' | 'link',
): Record<string, unknown> {
  const { team } = workspace;
  const author = workspace.users.find(({ id }) => id === user);
  const channel = workspace.channels.find(({ id }) => id === channelId);
  const url = `${team.url}archives/${channelId}/p${ts.replace('.', '')}`;
  const isPublic = channel?.kind === 'public';
  return {
    id: 1,
    ts,
    color: 'D0D0D0',
    fallback: `${author?.name}: ${text}`,
    text,
    mrkdwn_in: ['text'],
    author_id: user,
    author_name: author?.realName,
    author_subname: author?.name,
    channel_id: channelId,
    channel_team: team.id,
    from_url: url,
    footer: isPublic ? `Posted in ${channel.label}` : 'Slack Conversation',
    is_msg_unfurl: true,
    ...(as === 'forward' ? { is_share: true } : { original_url: url }),
    ...(as === 'link' && !isPublic && { private_channel_prompt: true }),
    ...(files && { files }),
    ...(blocks.length > 0 && {
      message_blocks: [{ team: team.id, channel: channelId, ts, message: { blocks } }],
    }),
  };
}

/** What stays of a deleted message that has replies. */
export function tombstoneJson(inside: Inside, message: SentMessage): Record<string, unknown> {
  return {
    ...messageJson(inside, { ...message, reactions: [] }, { content: { text: '', blocks: [] } }),
    subtype: 'tombstone',
    text: 'This message was deleted.',
    user: 'USLACKBOT',
    hidden: true,
  };
}

/** The replies that are still there, oldest first. */
export function repliesTo(messages: SentMessage[], root: Pick<SentMessage, 'channel' | 'ts'>): SentMessage[] {
  return messages.filter(
    ({ channel, threadTs, deleted }) => channel === root.channel && threadTs === root.ts && !deleted,
  );
}
