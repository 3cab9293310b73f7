import { message } from '../../slack/blocks.ts';
import { cut, oneLine } from '../../slack/text.ts';
import { type AdminAlertParts, createAdminAlert } from './admin-alert.ts';

/**
 * Alerts the admins by direct message, once an hour at most, that the platform rejects the key of a project. Returns
 * whether there are any.
 */
export function createKeyAlert(parts: AdminAlertParts) {
  const alertAdmins = createAdminAlert(parts);
  return (teamId: string, project: string): Promise<boolean> =>
    alertAdmins(teamId, {
      name: `key:${teamId}:${project}`,
      messageKeyPrefix: `key-rejected.${project}`,
      message: message([
        [`🔑 The docs platform rejects the API key of project ${cut(oneLine(project), 60)}.`],
        ['Set a new one and restart me; what runs goes on by itself then. I tell you once an hour at most.'],
      ]),
    });
}
