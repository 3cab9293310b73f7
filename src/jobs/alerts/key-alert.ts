import { keyIdOf } from '../../docs-api/client.ts';
import type { Project } from '../../projects.ts';
import { layout, type Message, type Part } from '../../slack/blocks.ts';
import type { RejectedKeyStore } from '../../store/rejected-keys.ts';
import { listNames } from '../wording-view.ts';
import { type AdminAlertParts, createAdminAlert } from './admin-alert.ts';

export interface KeyAlertParts extends AdminAlertParts {
  projects: readonly Pick<Project, 'name' | 'apiKey' | 'apiKeyVariable'>[];
  rejectedKeys: Pick<RejectedKeyStore, 'reject'>;
  /** Returns what waits in these projects, such as "3 exports wait"; empty for nothing. */
  waits: (teamId: string, projects: readonly string[]) => Promise<string>;
}

/**
 * Alerts the admins by direct message, once an hour at most for each key, that the platform rejects that of a project.
 * Returns whether there are any.
 */
export function createKeyAlert({ projects, rejectedKeys, waits, ...parts }: KeyAlertParts) {
  const alertAdmins = createAdminAlert(parts);

  return async (teamId: string, project: string): Promise<boolean> => {
    const apiKey = projects.find(({ name }) => name === project)?.apiKey;
    const sharing = projects.filter((one) => one.apiKey === apiKey);
    const [variable = `The key of ${project}`] = sharing.map(({ apiKeyVariable }) => apiKeyVariable);
    const names = sharing.map(({ name }) => name);
    const sinceMs = await rejectedKeys.reject(keyIdOf(apiKey ?? ''), parts.now());
    return alertAdmins(teamId, {
      name: `key:${teamId}:${variable}`,
      messageKeyPrefix: `key-rejected.${variable}`,
      waits: () => waits(teamId, names),
      message: (waiting) =>
        keyAlertMessage({ variable, names: projects.length > 1 ? names : [], sinceMs, waiting }),
    });
  };
}

interface RejectedKey {
  /** The setting that holds it. */
  variable: string;
  /** The projects that it is for, where there are others. */
  names: readonly string[];
  sinceMs: number;
  /** What waits because of it; empty for nothing. */
  waiting: string;
}

/** Which key is rejected, of which projects, since when, and what waits because of it. */
function rejectedKeyLine({ variable, names, sinceMs, waiting }: RejectedKey): Part[] {
  const of = names.length > 0 ? ` (${listNames(names)})` : '';
  return [
    { bold: variable },
    `${of} is rejected since `,
    { time: sinceMs, format: '{date_short_pretty} {time}' },
    waiting === '' ? '.' : `; ${waiting}.`,
  ];
}

function keyAlertMessage(key: RejectedKey): Message {
  const fix = 'Set a new one and restart me; what waits goes on by itself then.';
  return layout({
    lines: [['🔑 ', ...rejectedKeyLine(key)], [fix]],
    small: [['I tell you once an hour at most.']],
    text: [rejectedKeyLine(key), [fix]],
  });
}
