import { linkMessages, refusedMessage } from '../../../src/jobs/link/view.ts';
import { NOW_MS } from '../../support/builders.ts';
import { aLinkRun } from '../../support/jobs/link/builders.ts';
import { answered, type GalleryState, pick, post } from '../state.ts';

const SITE = 'docs.acme.com';
const had = { link: 'l1', linkEndsAtMs: NOW_MS + 1_800_000 };

export const linkStates: GalleryState[] = [
  post('link/sent', pick(linkMessages(aLinkRun({ state: 'sent', ...had })), 'link'), 'link', SITE),
  post(
    'link/sent, end unknown',
    pick(linkMessages(aLinkRun({ state: 'sent', link: 'l1' })), 'link'),
    'link',
    SITE,
  ),
  post('link/over', pick(linkMessages(aLinkRun({ state: 'over', ...had })), 'link'), 'ended', SITE),
  post('link/failed', pick(linkMessages(aLinkRun({ state: 'failed' })), 'link'), 'could not get', SITE),
  post(
    'link/no further one',
    pick(linkMessages(aLinkRun({ state: 'failed', expired: true, made: 2, ...had })), 'link.2'),
    'could not get',
    SITE,
  ),
  answered(
    'link/direct messages refused',
    refusedMessage(aLinkRun({ state: 'sent', ...had }), 'messages_tab_disabled'),
  ),
];
