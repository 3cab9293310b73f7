import { layout, type Message, type Part } from '../../slack/blocks.ts';
import { listNames, platformReasonText } from '../wording-view.ts';

export interface RejectedKey {
  /** The setting that holds it. */
  variable: string;
  /** Whether it is in a file, which is read again. */
  isFile?: boolean;
  /** The projects that it is for, where there are others. */
  names: readonly string[];
  sinceMs: number;
  /** What waits because of it; empty for nothing. */
  waiting: string;
}

const ofProjects = (names: readonly string[]) => (names.length > 0 ? ` (${listNames(names)})` : '');

/** Which key is rejected, of which projects, since when, and what waits because of it. */
export function rejectedKeyLine({ variable, names, sinceMs, waiting }: RejectedKey): Part[] {
  return [
    { bold: variable },
    `${ofProjects(names)} has been rejected since `,
    { time: sinceMs, format: '{date_short_pretty} {time}' },
    waiting === '' ? '.' : `; ${waiting}.`,
  ];
}

export const keyAlertMessage = (key: RejectedKey) =>
  alertMessage('🔑', rejectedKeyLine(key), [
    key.isFile
      ? 'Put a new one into its file; waiting work then resumes by itself, without a restart.'
      : 'Set a new one and restart me; waiting work then resumes by itself.',
  ]);

/** Of a 403: what the platform said, and what it can mean (`causes`). */
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

function alertMessage(icon: string, line: Part[], more: string[]): Message {
  const rest = more.map((text) => [text]);
  return layout({
    lines: [[`${icon} `, ...line], ...rest],
    small: [["I'll remind you at most once an hour."]],
    text: [line, ...rest],
  });
}
