import { Impossible } from './impossible.ts';
import { createInteractions, type Interactions } from './interactions.ts';
import { repliesTo, sharedJson } from './message-json.ts';
import { notifiedBy } from './notifies.ts';
import { commandFields } from './payloads.ts';
import type { PersonParts } from './person-parts.ts';
import { refusalOf } from './refused.ts';
import { namesOf, render } from './render.ts';
import { type Answer, answered } from './requests.ts';
import { asAnswer, type ReplyPlace } from './response-url.ts';
import { channelNamed } from './seed.ts';
import { typedText } from './typed-text.ts';
import type { View } from './views.ts';
import { type Channel, type SentMessage, tsKey, type User } from './workspace.ts';

/**
 * Somebody to speak as. What they cannot do in a real client throws, since then the test is wrong.
 *
 * A modal: `types` or `clicks` until `modal()` is there, look at `fields()`, `fills` or `submits` them by label, and
 * read errors in `fields()` or in the answer. Home: `opensHome()`, then `reads(home())`, and `clicks(home(), …)`.
 */
export interface Person extends Interactions {
  id: string;
  name: string;
  /** Types a slash command (`/invite @docket` works too); `triggerId` fixes the trigger id, to look like a repeat. */
  types(where: string, text: string, options?: { triggerId?: string }): Promise<Answer>;
  /** Posts a message; resolves after the first attempt to send the bot its event, if it gets one. */
  says(
    where: string,
    text: string,
    options?: { threadTs?: string; alsoToChannel?: boolean; files?: string[] },
  ): Promise<SentMessage>;
  /** Forwards a message, or pastes the link to it, with words of one's own. */
  forwards(
    message: SentMessage,
    where: string,
    text?: string,
    options?: { threadTs?: string; as?: 'forward' | 'link' },
  ): Promise<SentMessage>;
  /** Changes an own message. */
  edits(message: SentMessage, text: string): Promise<void>;
  deletes(message: SentMessage): Promise<void>;
  reacts(message: SentMessage, name: string): Promise<void>;
  unreacts(message: SentMessage, name: string): Promise<void>;
  /** Opens the app's Home tab; resolves after the first attempt to send the bot its event, if it gets one. */
  opensHome(): Promise<void>;
  /** The visible modal. */
  modal(): View | undefined;
  /** What was published last on this person's Home tab. */
  home(): View | undefined;
  /** What this person reads in a modal or on Home: title, blocks, errors, buttons. */
  reads(view: View | undefined): string;
  /** What this person reads there, in order: threads after their root, own ephemerals, buttons as `[Label]`. */
  sees(where: string): string[];
}

export function createPerson(user: User, parts: PersonParts): Person {
  const { inside, requests, replies, events } = parts;
  const { workspace, manifest, triggers, views } = inside;

  function conversation(where: string): Channel {
    const channel = channelNamed(workspace, where);
    if (channel.members.has(user.id)) return channel;
    throw new Impossible(`${user.name} is not in ${channel.label}`);
  }

  function writable(where: string): Channel {
    const channel = conversation(where);
    if (channel.archived) throw new Impossible(`${channel.label} is archived: nobody can write there`);
    return channel;
  }

  async function write(
    where: string,
    text: string,
    options: Parameters<Person['says']>[2] & { attachments?: Record<string, unknown>[] },
  ): Promise<SentMessage> {
    const channel = writable(where);
    const { threadTs, attachments = [] } = options;
    const root = workspace.messages.find(({ channel: at, ts }) => at === channel.id && ts === threadTs);
    if (threadTs !== undefined && (!root || root.threadTs))
      throw new Impossible(`No thread ${threadTs} there`);
    const typed = typedText(workspace, text);
    const sent = workspace.post(
      {
        text: typed,
        blocks: [],
        channel,
        user,
        threadTs,
        broadcast: options.alsoToChannel ?? false,
        files: (options.files ?? []).map((name) => ({ id: workspace.newId('F'), name })),
        attachments,
      },
      notifiedBy(typed, []),
    );
    await events.tried();
    return sent;
  }

  return {
    ...createInteractions(user, parts),
    id: user.id,
    name: user.name,
    async types(where, line, options = {}) {
      const channel = writable(where);
      const [, command = '', typed = ''] = /^(\/\S+)\s*([\s\S]*)$/.exec(line.trim()) ?? [];
      if (!command) throw new Impossible(`${line} is no slash command; use says() for messages`);
      const invited = command === '/invite' ? /^@(\w+)$/.exec(typed.trim())?.[1] : undefined;
      if (invited) {
        const id = workspace.users.find(({ name }) => name === invited.toLowerCase())?.id;
        if (id === undefined) throw new Impossible(`Nobody here is called ${invited}`);
        const isNew = !channel.members.has(id);
        channel.members.add(id);
        workspace.changed();
        if (isNew) await events.joined(channel, id, user.id);
        return { ok: true, status: 200, tookMs: 0 };
      }
      const declared = manifest.commands.find((known) => known.command === command);
      if (!declared) return { ok: false, status: 0, tookMs: 0, failed: 'unknown_command' };
      const place: ReplyPlace = { channel: channel.id, user: user.id };
      const fields = commandFields(inside, user, channel, {
        command,
        text: declared.shouldEscape ? typedText(workspace, typed) : typed.trimEnd(),
        response_url: replies.urlFor(place),
        trigger_id: triggers.issue(user.id, options.triggerId),
      });
      const request = requests.form(command, fields, (delivery) => {
        const { body, contentType } = delivery;
        if (body.trim() === '') return answered(delivery);
        try {
          const reply = contentType.includes('json') ? JSON.parse(body) : { text: body };
          return { ...answered(delivery), ...asAnswer(replies.show(place, reply, 'ack')) };
        } catch (error) {
          inside.violations.push(`${command}: acknowledged with ${refusalOf(error)}`);
          return { ...answered(delivery), ok: false, failed: 'dispatch_failed' };
        }
      });
      return requests.send(request);
    },

    says: (where, text, options = {}) => write(where, text, options),

    async forwards(message, where, text = '', { threadTs, as = 'forward' } = {}) {
      conversation(message.channel);
      if (message.deleted) throw new Impossible('This message is gone');
      const shared = sharedJson(inside, message, as);
      const typed = as === 'link' ? `${text} <${shared.from_url}>`.trim() : text;
      return write(where, typed, { ...(threadTs && { threadTs }), attachments: [shared] });
    },

    async edits(message, text) {
      if (message.user !== user.id) throw new Impossible(`${user.name} did not write this`);
      workspace.replace(message, { text: typedText(workspace, text), blocks: [] });
      await events.tried();
    },

    async deletes(message) {
      if (message.user !== user.id) throw new Impossible(`${user.name} did not write this`);
      workspace.remove(message);
      await events.tried();
    },

    async reacts(message, name) {
      workspace.react(message, name, user.id, true);
      await events.tried();
    },

    async unreacts(message, name) {
      workspace.react(message, name, user.id, false);
      await events.tried();
    },

    async opensHome() {
      if (!manifest.homeTab) throw new Impossible('The manifest enables no Home tab');
      if (!manifest.events.includes('app_home_opened')) return;
      const view = views.homeOf(user.id);
      await events.send({
        type: 'app_home_opened',
        user: user.id,
        channel: workspace.direct([workspace.bot.userId, user.id]).id,
        tab: 'home',
        event_ts: workspace.newTs(),
        ...(view && { view: views.json(view) }),
      });
    },

    modal: () => views.stackOf(user.id).at(-1),
    home: () => views.homeOf(user.id),

    reads(view) {
      if (view?.user !== user.id) throw new Impossible(`${user.name} does not see this view`);
      const { definition, blocks, errors } = view;
      const { title, submit, close } = definition;
      const buttons = [submit, close].flatMap((label) => (label ? [`[${label.text}]`] : []));
      const parts = [title?.text, render({ text: '', blocks }, namesOf(workspace))];
      return [...parts, ...Object.values(errors), buttons.join(' ')].filter(Boolean).join('\n');
    },

    sees(where) {
      const channel = conversation(where);
      const own = workspace.ephemerals.filter(
        ({ channel: at, to, deleted }) => at === channel.id && to === user.id && !deleted,
      );
      const ordered = <T extends { ts: string }>(items: T[]) =>
        items.sort((a, b) => (tsKey(a.ts) < tsKey(b.ts) ? -1 : 1));
      const names = namesOf(workspace);
      const roots = workspace.messages.filter(({ channel: at, threadTs, deleted, ts }) => {
        const answers = repliesTo(workspace.messages, { channel: channel.id, ts });
        return at === channel.id && threadTs === undefined && (!deleted || answers.length > 0);
      });
      return ordered([...roots, ...own.filter(({ threadTs }) => threadTs === undefined)]).flatMap((root) => {
        const answers = repliesTo(workspace.messages, root);
        const thread = ordered([...answers, ...own.filter(({ threadTs }) => threadTs === root.ts)]);
        const first = root.deleted ? 'This message was deleted.' : render(root, names);
        return [first, ...thread.map((answer) => render(answer, names))];
      });
    },
  };
}
