import { layout, type Message, moment, type Part } from '../../slack/blocks.ts';
import { listNames, platformReasonText } from '../wording-view.ts';

/** An API key in messages. */
interface ShownKey {
  /** The setting that holds the key. */
  variable: string;
  /** Whether the key is in a file, which is read again. */
  isFile?: boolean;
  /** The key's projects, if there are other ones. */
  names: readonly string[];
}

export interface RejectedKey extends ShownKey {
  sinceMs: number;
  /** The work that waits because of it; empty if none. */
  waiting: string;
}

const keyParts = ({ variable, names }: ShownKey, rest: string): Part[] => [
  { bold: variable },
  (names.length > 0 ? ` (${listNames(names)})` : '') + rest,
];

/** A rejected key: its setting, projects, time of rejection, and waiting work. */
export const rejectedKeyLine = (key: RejectedKey): Part[] => [
  ...keyParts(key, ' has been rejected since '),
  moment(key.sinceMs),
  key.waiting === '' ? '.' : `; ${key.waiting}.`,
];

const HOURLY = "I'll remind you at most once an hour.";

export const keyAlertMessage = (key: RejectedKey): Message =>
  layout({
    icon: '🔑',
    lines: [
      rejectedKeyLine(key),
      key.isFile
        ? 'Put a new one into its file; waiting work then resumes by itself, without a restart.'
        : 'Set a new one and restart me; waiting work then resumes by itself.',
    ],
    small: [HOURLY],
  });

/** For a 403: the platform's words, and their possible `causes`. */
export const forbiddenAlertMessage = (key: ShownKey, reason: string | undefined, causes: string): Message =>
  layout({
    icon: '🚫',
    lines: [
      ['The platform does not allow my request with ', ...keyParts(key, ' (403).')],
      platformReasonText(reason),
      causes,
    ],
    small: [HOURLY],
  });

/** For a key that expires soon, on this day. */
export const expiryMessage = (key: ShownKey, day: string): Message =>
  layout({
    icon: '🔑',
    lines: [
      // Noon in UTC is the same day nearly everywhere.
      [...keyParts(key, ' expires on '), { time: Date.parse(day) + 43_200_000, format: '{date_short}' }, '.'],
      key.isFile
        ? 'Create a new key and put it into the file; that needs no restart. Set its date in the settings.'
        : 'Create a new key, set it and its date in the settings, and restart me.',
    ],
    small: ["I'll remind you 14, 7 and 1 days ahead."],
  });
