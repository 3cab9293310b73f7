import type { BlockAction, MessageShortcut, SlashCommand, ViewSubmitAction } from '@slack/bolt';
import type { Caller } from './intake.ts';
import type { ModalOrigin } from './registry.ts';

/** From the payload of a slash command. `fullMember` is not known yet, so it is false. */
export function callerOfCommand(body: SlashCommand, receivedAtMs: number): Caller {
  return {
    teamId: body.team_id,
    user: { id: body.user_id, name: body.user_name, fullMember: false },
    channel: { id: body.channel_id, name: body.channel_name },
    requestId: body.trigger_id,
    triggerId: body.trigger_id,
    responseUrl: body.response_url,
    receivedAtMs,
  };
}

/** From a click, or a message shortcut. A modal and Home have neither a channel nor a response URL. */
export function callerOfAction(body: BlockAction | MessageShortcut, receivedAtMs: number): Caller {
  const name = 'username' in body.user ? body.user.username : undefined;
  const view = 'view' in body ? body.view : undefined;
  return {
    teamId: body.team?.id ?? body.user.team_id ?? '',
    user: { id: body.user.id, name: name ?? body.user.name ?? body.user.id, fullMember: false },
    channel: { id: body.channel?.id ?? '', name: body.channel?.name ?? '' },
    requestId: body.trigger_id,
    triggerId: body.trigger_id,
    ...(view?.type === 'modal' && { modalId: view.id }),
    responseUrl: body.response_url,
    receivedAtMs,
  };
}

/**
 * From a submitted modal: a repeat has the same view id. `responseUrl` belongs to the request that opened it. For
 * people of other organizations `team` is theirs, and only the view names the workspace of the app (bolt-js#1614).
 */
export function callerOfModal(
  body: ViewSubmitAction,
  { channel }: ModalOrigin,
  responseUrl: string | undefined,
  receivedAtMs: number,
): Caller {
  return {
    teamId: body.view.app_installed_team_id || (body.team?.id ?? body.user.team_id ?? ''),
    user: { id: body.user.id, name: body.user.name, fullMember: false },
    channel,
    requestId: `view ${body.view.id}`,
    triggerId: body.trigger_id,
    responseUrl,
    receivedAtMs,
  };
}
