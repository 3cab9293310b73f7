import type { HomeView, ModalView } from '@slack/types';
import type { Message } from './blocks.ts';
import { SlackApiError } from './errors.ts';
import { isDirectMessage } from './ids.ts';
import type { BotIdentity } from './reply.ts';
import {
  createSlackWeb,
  type IsTooLate,
  ORG_WIDE,
  type SlackWebOptions,
  TOO_LONG,
  uploadBytes,
} from './web-calls.ts';

/** Pages of 1,000 people each: private channels are smaller. */
const MEMBER_PAGES = 5;

/** Maximum messages of a thread, and of the pages that Slack may return them in. */
const MAX_REPLIES = 1000;
const MAX_REPLY_PAGES = 20;

export interface PostedMessage {
  channel: string;
  ts: string;
}

/** A conversation, or the thread under `threadTs` in it. */
export interface Place {
  channel: string;
  threadTs?: string | undefined;
}

/** A file whose bytes Slack has, and where it is to be shared. */
export interface UploadedFile {
  fileId: string;
  title: string;
  channel: string;
  threadTs: string;
}

/** The type of our messages' metadata: after a post with unknown outcome, the message is searched by its `key`. */
const EVENT_TYPE = 'docket_message';

/** The clocks of Slack and of Redis may differ by this much. */
const CLOCK_TOLERANCE_MS = 3_600_000;

/** The part of Slack's Web API that Docket uses. Every call rejects with `SlackApiError` and is sent once. */
export type SlackApi = ReturnType<typeof createSlackApi>;

/** The bot, and its workspace's address, with a slash at its end. */
export type Identity = BotIdentity & { botId: string; url: string };

export function createSlackApi(options: SlackWebOptions) {
  const { call, isRefused, refusedForMs, missingScopes, refusedMethods } = createSlackWeb(options);
  let own: Identity | undefined;
  let isOrgWide = false;

  async function identity(): Promise<Identity> {
    const answer = await call('auth.test', {});
    const { team_id, enterprise_id, user_id, bot_id, url } = answer;
    isOrgWide = answer.is_enterprise_install === true;
    // Its token is valid in many workspaces: nothing would say whose a request is.
    if (isOrgWide) throw new SlackApiError('refused', 'auth.test', ORG_WIDE);
    if (!team_id || !user_id || !bot_id || !url)
      throw new SlackApiError('token', 'auth.test', 'not_a_bot_token');
    const grid = enterprise_id && { enterpriseId: enterprise_id };
    own = { teamId: team_id, ...grid, botUserId: user_id, botId: bot_id, url };
    return own;
  }

  async function conversation(channel: string) {
    const answer = await call('conversations.info', { channel });
    return given('conversations.info', answer.channel);
  }

  /** Returns undefined if Slack does not show us the person, which no retry changes. */
  async function findUser(user: string) {
    const answer = await call('users.info', { user }).catch(ignore('place'));
    return answer && given('users.info', answer.user);
  }

  return {
    /** Returns for how many milliseconds calls still reject with kind `token`, because Slack refuses it. */
    refusedForMs,

    missingScopes,
    refusedMethods,

    /** Asks Slack for the bot and its workspace. Rejects with code `ORG_WIDE` if it is in many. */
    identity,

    /** Returns whether the last answer said that the app is installed for a whole organization. */
    isOrgWide: () => isOrgWide,

    /** Returns the last answer; undefined until there is one. */
    current: () => own,

    /**
     * Returns for how many milliseconds jobs pause because Slack would refuse their messages with the token. Tries the
     * token when that is due; never rejects.
     */
    async pausedForMs(): Promise<number> {
      if (isRefused() && refusedForMs() === 0) await identity().catch(() => {});
      return refusedForMs();
    },

    async person(userId: string): Promise<PersonFacts> {
      // Without our own workspace to compare with, everybody would count as external.
      if (own === undefined) throw new SlackApiError('unreachable', 'users.info', 'no_identity');
      const { teamId, enterpriseId } = own;
      const user = await findUser(userId);
      if (user === undefined) return { id: userId, name: userId, fullMember: false, active: false };
      const { profile, enterprise_user: onGrid, is_restricted, is_ultra_restricted, is_stranger } = user;
      const active = user.is_bot !== true && user.deleted !== true;
      const full = active && !is_restricted && !is_ultra_restricted && !is_stranger;
      // A person of another organization in a shared channel is not `is_stranger`, but has another team.
      const here = [user.team_id, ...(onGrid?.teams ?? [])].includes(teamId);
      // The person's own, never a workspace's: anybody may write in a channel that is shared with it.
      const gridMember = full && enterpriseId !== undefined && onGrid?.enterprise_id === enterpriseId;
      const name = [profile?.display_name, profile?.real_name, user.name].find(Boolean) ?? userId;
      return { id: userId, name, fullMember: full && here, ...(gridMember && { gridMember }), active };
    },

    /** Returns the person's time zone, an IANA name; undefined if Slack shows none. */
    async personZone(userId: string): Promise<string | undefined> {
      return (await findUser(userId))?.tz || undefined;
    },

    /** Returns user ids; undefined if the workspace has no such user group. */
    async groupMembers(usergroup: string): Promise<string[] | undefined> {
      const answer = await call('usergroups.users.list', { usergroup }).catch(ignore('missing'));
      return answer && (answer.users ?? []);
    },

    /** Returns the handles of the active user groups by id, without `@`. */
    async groups(): Promise<ReadonlyMap<string, string>> {
      const { usergroups = [] } = await call('usergroups.list', {});
      return new Map(usergroups.flatMap(({ id, handle }) => (id && handle ? [[id, handle]] : [])));
    },

    /**
     * Returns facts about a conversation. `shared`: people of other organizations are members, or invited. `isPublic`:
     * every full member may read it. Rejects with kind `place` if the bot may not see it.
     */
    async channel(channelId: string): Promise<{ shared: boolean; isPublic: boolean }> {
      // The bot's direct message has one other member; asking Slack would need another scope.
      if (isDirectMessage(channelId)) return { shared: false, isPublic: false };
      const channel = await conversation(channelId);
      const invited = channel.is_pending_ext_shared === true || (channel.pending_shared?.length ?? 0) > 0;
      return { shared: channel.is_ext_shared === true || invited, isPublic: isPublic(channel) };
    },

    /** Returns the first members' ids, up to `MEMBER_PAGES` pages; none of a direct message. Rejects as `channel` does. */
    async members(channel: string): Promise<string[]> {
      // As in `channel`: asking Slack would need another scope.
      if (isDirectMessage(channel)) return [];
      const found: string[] = [];
      let cursor = '';
      for (let page = 0; page < MEMBER_PAGES && (page === 0 || cursor); page += 1) {
        const answer = await call('conversations.members', { channel, limit: 1000, cursor });
        found.push(...(answer.members ?? []));
        cursor = answer.response_metadata?.next_cursor ?? '';
      }
      return found;
    },

    /** Returns the name without its `#`. Rejects with kind `place` if it is private: not everybody may know it. */
    async channelName(channelId: string): Promise<string> {
      const channel = isDirectMessage(channelId) ? undefined : await conversation(channelId);
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

    async openDirectMessage(users: string): Promise<string> {
      const { channel } = await call('conversations.open', { users });
      return given('conversations.open', channel?.id);
    },

    async post(
      place: Place,
      content: Message,
      metadata: { key: string; hash: string },
      isTooLate: IsTooLate,
    ): Promise<PostedMessage> {
      const message = {
        ...placed(place, content),
        metadata: { event_type: EVENT_TYPE, event_payload: metadata },
        unfurl_links: false,
        unfurl_media: false,
      };
      const { channel, ts } = await call('chat.postMessage', message, { isTooLate });
      return { channel: given('chat.postMessage', channel), ts: given('chat.postMessage', ts) };
    },

    async edit(place: PostedMessage, { text, blocks }: Message, isTooLate: IsTooLate): Promise<void> {
      // An empty list of blocks removes the old ones for certain.
      await call('chat.update', { ...place, text, blocks }, { isTooLate });
    },

    /** Deletes one of our messages. Also resolves if it does not exist. */
    async remove({ channel, ts }: PostedMessage): Promise<void> {
      await call('chat.delete', { channel, ts }).catch(ignore('missing'));
    },

    /**
     * Posts a message that one person sees until their client is reloaded. It cannot be edited, and Slack does not say
     * whether it arrived: in a thread without replies it never does. Rejects with kind `place` if the person or the bot
     * is not in the conversation.
     */
    async postEphemeralTo({ user, ...place }: Place & { user: string }, content: Message): Promise<void> {
      await call('chat.postEphemeral', { user, ...placed(place, content) });
    },

    /**
     * Begins the upload of a file of so many bytes: `uploadBytes` takes them, and `completeUpload` finishes it. Anybody
     * who knows `uploadUrl` may upload in our name. Rejects with kind `refused` if the workspace takes no files.
     */
    async getUploadAddress({ filename, bytes: length }: { filename: string; bytes: number }) {
      const method = 'files.getUploadURLExternal';
      const { file_id, upload_url = '' } = await call(method, { filename, length });
      return {
        fileId: given(method, file_id),
        uploadUrl: given(method, URL.canParse(upload_url) ? upload_url : undefined),
      };
    },

    uploadBytes,

    /**
     * Finishes the upload of a file: a little later, it is shared in the thread under `threadTs`. If the outcome is
     * unknown, `fileInfo` shows it.
     */
    async completeUpload(
      { fileId: id, title, channel: channel_id, threadTs: thread_ts }: UploadedFile,
      isTooLate: IsTooLate,
    ): Promise<void> {
      const method = 'files.completeUploadExternal';
      await call(method, { files: [{ id, title }], channel_id, thread_ts }, { isTooLate });
    },

    /** Returns the channels in which a file is shared: none if its upload was never finished. */
    async fileInfo(fileId: string): Promise<{ sharedIn: string[] }> {
      const answer = await call('files.info', { file: fileId }).catch(ignore('missing'));
      const shares = answer && given('files.info', answer.file).shares;
      const all = { ...shares?.public, ...shares?.private };
      return { sharedIn: Object.keys(all).filter((channel) => all[channel]?.some(({ ts }) => ts)) };
    },

    /**
     * Returns the messages of the thread under a root, the oldest first: the root, and the replies before `latest`, a
     * `ts`. Undefined if there are more than `MAX_REPLIES`, since the newest would be missing.
     */
    async replies(root: PostedMessage, latest: string): Promise<unknown[] | undefined> {
      const messages: unknown[] = [];
      let cursor = '';
      // Slack may end a page early, and every page begins with the root.
      for (let page = 0; page < MAX_REPLY_PAGES; page += 1) {
        const args = { ...root, limit: MAX_REPLIES - 1, latest, cursor };
        const found = await call('conversations.replies', args).catch(ignore(TOO_LONG));
        messages.push(...(found?.messages ?? []).filter(({ ts }) => page === 0 || ts !== root.ts));
        cursor = found?.response_metadata?.next_cursor ?? '';
        if (found === undefined || messages.length > MAX_REPLIES || (found.has_more && !cursor))
          return undefined;
        if (!cursor) return messages;
      }
      return undefined;
    },

    /** Adds a reaction by the bot; its name has no colons. Also resolves if it exists already. */
    async addReaction({ channel, ts: timestamp }: PostedMessage, name: string): Promise<void> {
      await call('reactions.add', { channel, timestamp, name }).catch(ignore('already_reacted'));
    },

    /** Removes a reaction of the bot. Also resolves if it does not exist. */
    async removeReaction({ channel, ts: timestamp }: PostedMessage, name: string): Promise<void> {
      await call('reactions.remove', { channel, timestamp, name }).catch(ignore('no_reaction'));
    },

    /**
     * Reads one page of a conversation or a thread since a time. Returns our message with this key in its metadata, and
     * the hash of its posted form, if it is there; and the cursor of the next page.
     */
    async findMessage(key: string, { channel, threadTs }: Place, sinceMs: number, cursor = '') {
      const oldest = String(Math.max(0, Math.floor((sinceMs - CLOCK_TOLERANCE_MS) / 1000)));
      const page = { channel, limit: 200, include_all_metadata: true, oldest, cursor };
      const { messages = [], response_metadata: more } = await (threadTs === undefined
        ? call('conversations.history', page)
        : call('conversations.replies', { ...page, ts: threadTs }));
      const [found] = messages.flatMap(({ ts, metadata }) => {
        const { key: known, hash = '' } = (metadata?.event_payload ?? {}) as Partial<Record<string, string>>;
        const isFound = ts !== undefined && known === key && metadata?.event_type === EVENT_TYPE;
        return isFound ? [{ channel, ts, hash }] : [];
      });
      return { found, nextCursor: more?.next_cursor || undefined };
    },
  };
}

const placed = ({ channel, threadTs }: Place, { text, blocks }: Message) => ({
  channel,
  text,
  ...(blocks.length > 0 && { blocks }),
  ...(threadTs !== undefined && { thread_ts: threadTs }),
});

/** Returns a field of an answer. An answer without it is unclear. */
function given<T>(method: string, value: T | undefined): NonNullable<T> {
  if (value === undefined || value === null || value === '')
    throw new SlackApiError('unclear', method, 'unreadable');
  return value;
}

/** Returns whether a conversation is public; if Slack does not say, it counts as private. */
const isPublic = (channel: { is_private?: boolean; is_im?: boolean; is_mpim?: boolean }) =>
  channel.is_private === false && !channel.is_im && !channel.is_mpim;

/** Returns a handler that rethrows every error but those of this kind or code. */
const ignore = (kindOrCode: string) => (error: unknown) => {
  if (!(error instanceof SlackApiError) || ![error.kind, error.code].includes(kindOrCode)) throw error;
  return undefined;
};

/** The facts about a person that decide permissions, and the name to show. */
export interface PersonFacts {
  id: string;
  name: string;
  /** A full member of this workspace: active, no guest, nobody from another organization. */
  fullMember: boolean;
  /** A full member of this workspace's Enterprise Grid, as Slack reports. */
  gridMember?: boolean;
  /** Neither a bot nor deactivated. Inactive people have no permission, even if listed by id. */
  active: boolean;
}
