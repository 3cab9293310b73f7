import { type Message, message } from '../../../slack/blocks.ts';
import { cut, isolate, oneLine } from '../../../slack/text.ts';
import { digestActions } from '../buttons.ts';
import { rangeText, type Week } from '../weeks.ts';
import type { EditionRun } from './record.ts';

type Which = Pick<EditionRun, 'site' | 'range' | 'channel'>;

const which = ({ site, range }: Which) =>
  `The digest of ${isolate(cut(oneLine(site), 80))}, ${rangeText(range)},`;

/** To somebody who has a digest posted by hand. */
export const onItsWayMessage = (edition: Which): Message =>
  message([[`${which(edition)} is on its way into `, { channel: edition.channel }, '.']]);

/** To somebody who asked for a digest, when limits hold its totals up. */
export const waitsMessage = (edition: Which, byMs: number): Message =>
  message([
    [
      `${which(edition)} comes by about `,
      { time: byMs, format: '{time}' },
      ": this hour's requests for numbers are used up. Nothing is lost.",
    ],
  ]);

/** To somebody who wants a digest that is posted already; `permalink` leads to it. */
export const postedAlreadyMessage = (edition: Which, permalink: string | undefined): Message =>
  message(
    [[`${which(edition)} is in `, { channel: edition.channel }, ' already, so nothing was posted again.']],
    permalink === undefined
      ? []
      : [{ label: 'Open thread', action: digestActions.openThread, url: permalink }],
  );

/** To somebody who wants the digest of a week so soon after it that its numbers are not final. */
export const notSettledMessage = ({ range }: Week, settledMs: number): Message =>
  message([
    [
      `The week ${rangeText(range)} is hardly over; the platform may still count its last views. Send it after `,
      { time: settledMs, format: '{time}' },
      '.',
    ],
  ]);
