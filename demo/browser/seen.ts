import type { View } from '../slack/views.ts';
import { type Channel, type Ephemeral, isMessage, type SentMessage } from '../slack/workspace.ts';
import type {
  Block,
  Conversation,
  DeployedSite,
  Entity,
  ExportJob,
  GitHost,
  Message,
  OpenView,
  PersonHere,
  Visitor,
  Workspace,
} from './protocol.ts';
import type { Timeline } from './timeline.ts';
import { openPull, type Switchboard } from './trouble.ts';
import type { World } from './world.ts';

/** Everything that one visitor sees now: their part of Slack, and of the rest all. */
export function seenBy(
  as: Visitor,
  world: World,
  parts: { timeline: Timeline; switches: Switchboard },
): Entity[] {
  const { slack, clock, docket, deployment, gitHost } = world;
  const me = slack.person(as);
  const channels = slack.workspace.channels.filter(({ members }) => members.has(me.id));
  const ids = new Set(channels.map(({ id }) => id));
  const ownEphemerals = slack.ephemerals.filter(
    ({ to, channel, deleted }) => to === me.id && ids.has(channel) && !deleted,
  );
  const [modal, home] = [me.modal(), me.home()];
  return [
    workspaceSeen(world, as),
    ...peopleSeen(world),
    ...channels.map((channel) => conversationSeen(world, as, channel)),
    ...messagesSeen(world, as, ids),
    ...ownEphemerals.map((message) => messageSeen(world, as, message)),
    ...(modal ? [viewSeen(modal, 'modal')] : []),
    ...(home ? [viewSeen(home, 'home')] : []),
    ...(docket
      ? [
          {
            kind: 'bot' as const,
            state: docket.bot.state,
            ...(docket.bot.pid !== undefined && { pid: docket.bot.pid }),
            restarts: docket.bot.restarts,
          },
          { kind: 'redis' as const, up: docket.redis.up },
        ]
      : []),
    { kind: 'clock', aheadMs: clock.aheadMs },
    ...platformSeen(world, parts.timeline),
    ...(deployment ? [siteSeen(deployment)] : []),
    ...(gitHost ? [gitHostSeen(gitHost)] : []),
    parts.switches.entity(),
    ...parts.timeline.entries(),
  ];
}

/** Whether a visitor may have the bytes of a file: it stands in a conversation of theirs, or in what they see. */
export function mayHave(as: Visitor, { slack }: World, fileId: string): boolean {
  const me = slack.person(as).id;
  const file = slack.files.find(({ id }) => id === fileId);
  const isIn = (id: string) =>
    slack.workspace.channels.some((channel) => channel.id === id && channel.members.has(me));
  if (file?.sharedIn.some(({ channel }) => isIn(channel))) return true;
  const shows = ({ blocks }: Pick<SentMessage, 'blocks'>) => JSON.stringify(blocks).includes(`"${fileId}"`);
  return (
    slack.messages.some((message) => !message.deleted && isIn(message.channel) && shows(message)) ||
    slack.ephemerals.some((message) => !message.deleted && message.to === me && shows(message))
  );
}

function workspaceSeen({ slack }: World, as: Visitor): Workspace {
  const { workspace, manifest } = slack;
  const named = (type: 'message' | 'global') =>
    manifest.shortcuts.filter((shortcut) => shortcut.type === type).map(({ name }) => name);
  return {
    kind: 'workspace',
    name: workspace.team.name,
    me: { id: slack.person(as).id, name: as },
    bot: workspace.bot.userId,
    commands: manifest.commands.map(({ command, description, usageHint }) => ({
      command,
      description,
      usageHint,
    })),
    messageShortcuts: named('message'),
    globalShortcuts: named('global'),
  };
}

function peopleSeen({ slack }: World): PersonHere[] {
  return slack.workspace.users
    .filter(({ deleted }) => !deleted)
    .map(({ id, name, realName, isBot, isRestricted }) => ({
      kind: 'person',
      id,
      name,
      realName,
      isBot,
      isGuest: isRestricted,
    }));
}

function conversationSeen({ slack }: World, as: Visitor, channel: Channel): Conversation {
  const { users, bot } = slack.workspace;
  const { id, label, kind, archived, members } = channel;
  const others = users
    .filter((user) => members.has(user.id) && user.name !== as)
    .map(({ realName }) => realName);
  return {
    kind: 'conversation',
    id,
    label: kind === 'im' || kind === 'mpim' ? others.join(', ') : label,
    type: kind,
    archived,
    hasBot: members.has(bot.userId),
  };
}

function messagesSeen(world: World, as: Visitor, channels: Set<string>): Message[] {
  const all = world.slack.messages.filter(({ channel }) => channels.has(channel));
  const withReplies = new Set(
    all.filter(({ deleted }) => !deleted).map(({ channel, threadTs }) => `${channel} ${threadTs}`),
  );
  return all
    .filter(({ deleted, channel, ts }) => !deleted || withReplies.has(`${channel} ${ts}`))
    .map((message) => messageSeen(world, as, message));
}

function messageSeen({ slack }: World, as: Visitor, message: SentMessage | Ephemeral): Message {
  const { channel, ts, threadTs, text, blocks, deleted } = message;
  const seen = {
    kind: 'message' as const,
    channel,
    ts,
    ...(threadTs !== undefined && { threadTs }),
    deleted,
  };
  if (!isMessage(message)) {
    const user = slack.workspace.bot.userId;
    const rest = { broadcast: false, edited: false, reactions: [], files: [] };
    return { ...seen, user, text, blocks: blocks as Block[], ephemeral: true, ...rest };
  }
  const { user, broadcast, editedTs, reactions, files = [] } = message;
  const content = deleted
    ? { text: '', blocks: [], reactions: [], files: [] }
    : {
        text,
        blocks: blocks as Block[],
        reactions: reactions.map(({ name, users }) => ({ name, users })),
        files: files.map(({ id, name }) => fileSeen(slack.files, as, id, name)),
      };
  // Slack does not say so of messages with blocks.
  const edited = editedTs !== undefined && blocks.length === 0;
  return { ...seen, user, ephemeral: false, broadcast, edited, ...content };
}

function fileSeen(
  files: World['slack']['files'],
  as: Visitor,
  id: string,
  name: string,
): Message['files'][number] {
  const file = files.find((one) => one.id === id);
  if (!file) return { id, name };
  const { mimetype } = file;
  return { id, name, ...(mimetype !== undefined && { mimetype }), url: `/files/${id}?as=${as}` };
}

function viewSeen({ id, hash, definition, blocks, errors }: View, place: OpenView['place']): OpenView {
  const { title, submit, close } = definition;
  return {
    kind: 'view',
    place,
    id,
    hash,
    title: title?.text ?? '',
    ...(submit && { submit: submit.text }),
    ...(close && { close: close.text }),
    blocks: blocks as Block[],
    errors,
  };
}

function siteSeen(deployment: NonNullable<World['deployment']>): DeployedSite {
  const served = deployment.serves();
  if (!served) return { kind: 'deployment', url: deployment.url };
  const { jobId, version } = served;
  return { kind: 'deployment', url: deployment.url, serves: { jobId, ...(version && { version }) } };
}

function gitHostSeen(gitHost: NonNullable<World['gitHost']>): GitHost {
  const pull = openPull(gitHost);
  return { kind: 'git-host', ...(pull && { open: `${pull.repository}#${pull.number}` }) };
}

function platformSeen({ platform }: World, timeline: Timeline): Entity[] {
  const { used, limitsPerHour } = platform;
  return [
    ...[...platform.exports.values()].map((job) => ({
      kind: 'export' as const,
      id: job.jobId,
      domain: job.domain,
      status: job.status as ExportJob['status'],
      fraction: Math.round(job.fraction * 100) / 100,
      startedAtMs: job.startedAtMs,
    })),
    ...[...platform.agent.jobs.values()].map(({ id, status, prLink }) => ({
      kind: 'agent-job' as const,
      id,
      status,
      prompts: platform.agent.messages.filter(({ jobId }) => jobId === id).map(({ prompt }) => prompt),
      ...(prLink !== null && { prLink }),
    })),
    {
      kind: 'limits',
      instructions: { used: used.followUps(), of: limitsPerHour.followUps },
      analytics: { used: used.analytics(), of: limitsPerHour.analytics },
      slackRefused: timeline.refusedBySlack,
    },
  ];
}
