import type { HomeView, ModalView } from '@slack/types';
import type { UsersInfoResponse } from '@slack/web-api';
import type { Message } from './blocks.ts';
import { SlackApiError } from './errors.ts';
import type { BotIdentity, Person } from './reply.ts';
import { createSlackWeb, type IsTooLate, type SlackWebOptions, uploadBytes } from './web-calls.ts';

/** The bot and its workspace, from `auth.test`. `url` is the workspace's address, with a final slash. */
export interface Identity extends BotIdentity {
  botId: string;
  url: string;
}

/** Pages of 1,000 people each: private channels are smaller. */
const MEMBER_PAGES = 5;

export interface PostedMessage {
  channel: string;
  ts: string;
}

/** The metadata of our messages: after a post with unknown outcome, the message is searched by its `key`. */
interface DeliveryMetadata {
  key: string;
  hash: string;
}

/** One of our messages in Slack, and the hash of its posted form. */
export interface FoundMessage extends PostedMessage {
  hash: string;
}

/** A conversation, or the thread under `threadTs` in it. */
export interface Place {
  channel: string;
  threadTs?: string;
}

/** The type of their metadata. */
const EVENT_TYPE = 'docket_message';

/** The clocks of Slack and of Redis may differ by this much. */
const CLOCK_TOLERANCE_MS = 3_600_000;

/** The part of Slack's Web API that Docket uses. Every call rejects with `SlackApiError` and is sent once. */
export type SlackApi = ReturnType<typeof createSlackApi>;

export function createSlackApi(options: SlackWebOptions) {
  const { call, gate, missingScopes } = createSlackWeb(options);
  let own: Pick<Identity, 'teamId' | 'enterpriseId'> | undefined;
  async function conversation(channelId: string) {
    const { channel } = await call('conversations.info', { channel: channelId });
    if (!channel) throw new SlackApiError('unclear', 'conversations.info', 'no_channel');
    return channel;
  }

  async function identity(): Promise<Identity> {
    const { team_id, enterprise_id, user_id, bot_id, url } = await call('auth.test', {});
    if (!team_id || !user_id || !bot_id || !url)
      throw new SlackApiError('token', 'auth.test', 'not_a_bot_token');
    own = { teamId: team_id, ...(enterprise_id && { enterpriseId: enterprise_id }) };
    return { ...own, botUserId: user_id, botId: bot_id, url };
  }

  const body = ({ text, blocks }: Message) => ({ text, ...(blocks.length > 0 && { blocks }) });

  /** Returns undefined if Slack does not show us the person, which no retry changes. */
  async function findUser(userId: string) {
    try {
      const { user } = await call('users.info', { user: userId });
      if (!user) throw new SlackApiError('unclear', 'users.info', 'no_user');
      return user;
    } catch (error) {
      if (error instanceof SlackApiError && error.kind === 'place') return undefined;
      throw error;
    }
  }

  return {
    /** Returns for how many milliseconds calls still reject with kind `token`, because Slack refuses it. */
    refusedForMs: gate.waitMs,

    missingScopes,

    identity,

    /**
     * Returns for how many milliseconds jobs pause because Slack would refuse their messages with the token. Tries the
     * token when that is due; never rejects.
     */
    async pausedForMs(): Promise<number> {
      if (gate.isRefused() && gate.waitMs() === 0) await identity().catch(() => {});
      return gate.waitMs();
    },

    async person(userId: string): Promise<Person> {
      // Without our own workspace to compare with, everybody would count as external.
      if (own === undefined) throw new SlackApiError('unreachable', 'users.info', 'no_identity');
      const user = await findUser(userId);
      if (user === undefined) return { id: userId, name: userId, fullMember: false, active: false };
      return personOf(userId, user, own);
    },

    /** Returns the person's time zone, an IANA name; undefined if Slack shows none. */
    async personZone(userId: string): Promise<string | undefined> {
      return (await findUser(userId))?.tz || undefined;
    },

    /** Returns user ids; undefined if the workspace has no such user group. */
    async groupMembers(groupId: string): Promise<string[] | undefined> {
      try {
        const response = await call('usergroups.users.list', { usergroup: groupId });
        return response.users ?? [];
      } catch (error) {
        if (error instanceof SlackApiError && error.kind === 'missing') return undefined;
        throw error;
      }
    },

    /** Returns the active user groups; `handle` has no `@`. */
    async groups(): Promise<{ id: string; handle: string }[]> {
      const response = await call('usergroups.list', {});
      return (response.usergroups ?? []).flatMap(({ id, handle }) => (id && handle ? [{ id, handle }] : []));
    },

    /**
     * Returns facts about a conversation. `shared`: people of other organizations are members, or invited. `isPublic`:
     * every full member may read it. Rejects with kind `place` if the bot may not see it.
     */
    async channel(channelId: string): Promise<{ shared: boolean; isPublic: boolean }> {
      // The bot's direct message has one other member; asking Slack would need another scope.
      if (channelId.startsWith('D')) return { shared: false, isPublic: false };
      const channel = await conversation(channelId);
      const invited = channel.is_pending_ext_shared === true || (channel.pending_shared?.length ?? 0) > 0;
      return { shared: channel.is_ext_shared === true || invited, isPublic: isPublic(channel) };
    },

    /** Returns the first members' ids, up to `MEMBER_PAGES` pages. Rejects as `channel` does. */
    async members(channelId: string): Promise<string[]> {
      const members: string[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < MEMBER_PAGES; page += 1) {
        const response = await call('conversations.members', {
          channel: channelId,
          limit: 1000,
          ...(cursor && { cursor }),
        });
        members.push(...(response.members ?? []));
        cursor = response.response_metadata?.next_cursor;
        if (!cursor) break;
      }
      return members;
    },

    /** Returns the name without its `#`. Rejects with kind `place` if it is private: not everybody may know it. */
    async channelName(channelId: string): Promise<string> {
      const channel = channelId.startsWith('D') ? undefined : await conversation(channelId);
      if (!channel?.name || !isPublic(channel))
        throw new SlackApiError('place', 'conversations.info', 'no_public_name');
      return channel.name;
    },

    /**
     * Opens a modal, within 3 s of the trigger's click or command. Rejects with kind `missing` if the trigger id has
     * expired, and `unclear` if Slack did not answer within `timeoutMs`.
     */
    async openModal(triggerId: string, view: ModalView, timeoutMs?: number): Promise<void> {
      await call('views.open', { trigger_id: triggerId, view }, { timeoutMs });
    },

    /** Replaces a modal that is open. */
    async updateModal(viewId: string, view: ModalView, timeoutMs?: number): Promise<void> {
      await call('views.update', { view_id: viewId, view }, { timeoutMs });
    },

    /** Replaces a person's Home tab. Rejects with code `not_enabled` if the app has none. */
    async publishHome(userId: string, view: HomeView): Promise<void> {
      await call('views.publish', { user_id: userId, view });
    },

    async openDirectMessage(userId: string): Promise<string> {
      const { channel } = await call('conversations.open', { users: userId });
      if (!channel?.id) throw new SlackApiError('unclear', 'conversations.open', 'no_channel');
      return channel.id;
    },

    async post(
      { channel, threadTs }: Place,
      content: Message,
      metadata: DeliveryMetadata,
      isTooLate: IsTooLate,
    ): Promise<PostedMessage> {
      const message = {
        channel,
        ...body(content),
        ...(threadTs !== undefined && { thread_ts: threadTs }),
        metadata: { event_type: EVENT_TYPE, event_payload: { ...metadata } },
        unfurl_links: false,
        unfurl_media: false,
      };
      const response = await call('chat.postMessage', message, { isTooLate });
      if (!response.ts || !response.channel) throw new SlackApiError('unclear', 'chat.postMessage', 'no_ts');
      return { channel: response.channel, ts: response.ts };
    },

    async edit(place: PostedMessage, { text, blocks }: Message, isTooLate: IsTooLate): Promise<void> {
      // An empty list of blocks removes the old ones for certain.
      await call('chat.update', { ...place, text, blocks }, { isTooLate });
    },

    /** Deletes one of our messages. Rejects with kind `missing` if it does not exist. */
    async remove({ channel, ts }: PostedMessage): Promise<void> {
      await call('chat.delete', { channel, ts });
    },

    /**
     * Posts a message that one person sees until their client is reloaded. It cannot be edited, and Slack does not say
     * whether it arrived: in a thread without replies it never does. Rejects with kind `place` if the person or the bot
     * is not in the conversation.
     */
    async postEphemeralTo(
      { channel, user, threadTs }: { channel: string; user: string; threadTs?: string },
      message: Message,
    ): Promise<void> {
      const to = { channel, user, ...(threadTs !== undefined && { thread_ts: threadTs }) };
      await call('chat.postEphemeral', { ...to, ...body(message) });
    },

    /**
     * Begins the upload of a file: `uploadBytes` takes its bytes, and `completeUpload` finishes it. Anybody who knows
     * `uploadUrl` may upload in our name. Rejects with kind `refused` if the workspace takes no files.
     */
    async getUploadAddress(file: {
      filename: string;
      /** Size of the file. */
      bytes: number;
    }): Promise<{ fileId: string; uploadUrl: string }> {
      const { filename, bytes: length } = file;
      const response = await call('files.getUploadURLExternal', { filename, length });
      const { file_id: fileId, upload_url: uploadUrl } = response;
      if (!fileId || !uploadUrl || !URL.canParse(uploadUrl))
        throw new SlackApiError('unclear', 'files.getUploadURLExternal', 'no_address');
      return { fileId, uploadUrl };
    },

    uploadBytes,

    /**
     * Finishes the upload of a file. The file is shared in the channel or thread a little later; without a channel it
     * is not shared. If the outcome is unknown, `fileInfo` shows it.
     */
    async completeUpload(file: {
      fileId: string;
      title: string;
      channel: string;
      /** The root of a thread in `channel`. */
      threadTs: string;
    }): Promise<void> {
      const { fileId: id, title, channel: channel_id, threadTs: thread_ts } = file;
      await call('files.completeUploadExternal', { files: [{ id, title }], channel_id, thread_ts });
    },

    /** Returns the channels in which a file is shared. Rejects with kind `missing` if its upload was never finished. */
    async fileInfo(fileId: string): Promise<{ sharedIn: string[] }> {
      const { file } = await call('files.info', { file: fileId });
      if (!file) throw new SlackApiError('unclear', 'files.info', 'no_file');
      const shares = { ...file.shares?.public, ...file.shares?.private };
      return { sharedIn: Object.keys(shares).filter((channel) => shares[channel]?.some(({ ts }) => ts)) };
    },

    /** Adds a reaction by the bot; its name has no colons. Also resolves if it exists already. */
    async addReaction({ channel, ts: timestamp }: PostedMessage, name: string): Promise<void> {
      await call('reactions.add', { channel, timestamp, name }).catch(ignoreCode('already_reacted'));
    },

    /** Removes a reaction of the bot. Also resolves if it does not exist. */
    async removeReaction({ channel, ts: timestamp }: PostedMessage, name: string): Promise<void> {
      await call('reactions.remove', { channel, timestamp, name }).catch(ignoreCode('no_reaction'));
    },

    /**
     * Reads one page of a conversation or a thread since a time. Returns our message with this key in its metadata, if
     * it is there, and the cursor of the next page.
     */
    async findMessage(key: string, { channel, threadTs }: Place, sinceMs: number, cursor?: string) {
      const page = {
        channel,
        limit: 200,
        include_all_metadata: true,
        oldest: String(Math.max(0, Math.floor((sinceMs - CLOCK_TOLERANCE_MS) / 1000))),
        ...(cursor !== undefined && { cursor }),
      };
      const { messages = [], response_metadata: more } = await (threadTs === undefined
        ? call('conversations.history', page)
        : call('conversations.replies', { ...page, ts: threadTs }));
      const [found] = messages.flatMap(({ ts, metadata }): FoundMessage[] => {
        const { key: known, hash = '' } = (metadata?.event_payload ?? {}) as Partial<DeliveryMetadata>;
        const isFound = ts !== undefined && known === key && metadata?.event_type === EVENT_TYPE;
        return isFound ? [{ channel, ts, hash }] : [];
      });
      return { found, nextCursor: more?.next_cursor || undefined };
    },
  };
}

/** Returns whether a conversation is public; if Slack does not say, it counts as private. */
const isPublic = (channel: { is_private?: boolean; is_im?: boolean; is_mpim?: boolean }) =>
  channel.is_private === false && !channel.is_im && !channel.is_mpim;

/** Returns a handler that rethrows every error but the one with this code. */
const ignoreCode = (done: string) => (error: unknown) => {
  if (!(error instanceof SlackApiError) || error.code !== done) throw error;
};

/** Returns the facts about a person that decide permissions, from `users.info`. `own` is the app's workspace. */
function personOf(
  userId: string,
  user: NonNullable<UsersInfoResponse['user']>,
  own: { teamId: string; enterpriseId?: string },
): Person {
  const guest = user.is_restricted === true || user.is_ultra_restricted === true;
  const active = user.is_bot !== true && user.deleted !== true;
  const full = active && !guest && user.is_stranger !== true;
  // A person of another organization in a shared channel is not `is_stranger`, but has another team.
  const here = [user.team_id, ...(user.enterprise_user?.teams ?? [])].includes(own.teamId);
  // The person's own, never a workspace's: anybody may write in a channel that is shared with it.
  const theirGrid = user.enterprise_user?.enterprise_id;
  const gridMember = full && own.enterpriseId !== undefined && theirGrid === own.enterpriseId;
  const name = [user.profile?.display_name, user.profile?.real_name, user.name].find(Boolean) ?? userId;
  return { id: userId, name, fullMember: full && here, ...(gridMember && { gridMember }), active };
}
