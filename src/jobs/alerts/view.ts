import { layout, type Message, moment, type Part } from '../../slack/blocks.ts';
import { listNames, platformReasonText } from '../wording-view.ts';

export interface RejectedKey {
  /** The setting that holds the key. */
  variable: string;
  /** Whether the key is in a file, which is read again. */
  isFile?: boolean;
  /** The key's projects, if there are other ones. */
  names: readonly string[];
  sinceMs: number;
  /** The work that waits because of it; empty if none. */
  waiting: string;
}

const ofProjects = (names: readonly string[]) => (names.length > 0 ? ` (${listNames(names)})` : '');

/** A rejected key: its setting, projects, time of rejection, and waiting work. */
export function rejectedKeyLine({ variable, names, sinceMs, waiting }: RejectedKey): Part[] {
  return [
    { bold: variable },
    `${ofProjects(names)} has been rejected since `,
    moment(sinceMs),
    waiting === '' ? '.' : `; ${waiting}.`,
  ];
}

export const keyAlertMessage = (key: RejectedKey) =>
  alertMessage('🔑', rejectedKeyLine(key), [
    key.isFile
      ? 'Put a new one into its file; waiting work then resumes by itself, without a restart.'
      : 'Set a new one and restart me; waiting work then resumes by itself.',
  ]);

/** For a 403: the platform's words, and their possible `causes`. */
export const forbiddenAlertMessage = (
  { variable, names }: Pick<RejectedKey, 'variable' | 'names'>,
  reason: string | undefined,
  causes: string,
) =>
  alertMessage(
    '🚫',
    ['The platform does not allow my request with ', { bold: variable }, `${ofProjects(names)} (403).`],
    [platformReasonText(reason), causes],
  );

/** For a key that expires soon, on this day. */
export const expiryMessage = (
  { variable, names, isFile }: Omit<RejectedKey, 'sinceMs' | 'waiting'>,
  day: string,
) =>
  alertMessage(
    '🔑',
    // Noon in UTC is the same day nearly everywhere.
    [
      { bold: variable },
      `${ofProjects(names)} expires on `,
      { time: Date.parse(day) + 43_200_000, format: '{date_short}' },
      '.',
    ],
    [
      isFile
        ? 'Create a new key and put it into the file; that needs no restart. Set its date in the settings.'
        : 'Create a new key, set it and its date in the settings, and restart me.',
    ],
    "I'll remind you 14, 7 and 1 days ahead.",
  );

function alertMessage(
  icon: string,
  line: Part[],
  more: string[],
  small = "I'll remind you at most once an hour.",
): Message {
  return layout({ icon, lines: [line, ...more], small: [small] });
}
