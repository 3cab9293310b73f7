import { keyIdOf } from '../../docs-api/client.ts';
import { readKeyFile } from '../../docs-api/key-file.ts';
import type { Project } from '../../projects.ts';
import type { Log } from '../../runtime/log.ts';
import { type AdminAlertParts, createAdminAlert } from './admin-alert.ts';
import { keyOf } from './key-alert.ts';
import { expiryMessage } from './key-alert-view.ts';

export interface ExpiryReminderParts extends AdminAlertParts {
  projects: readonly Project[];
  /** Undefined until it is known. */
  teamId: () => string | undefined;
  log: Pick<Log, 'warn'>;
}

const DAY_MS = 86_400_000;
const REMINDER_DAYS = [1, 7, 14];

/** Returns a function that reminds the admins of expiring keys: 14, 7 and 1 days ahead, once each. */
export function createExpiryReminder({ projects, teamId, log, ...parts }: ExpiryReminderParts) {
  const alertAdmins = createAdminAlert(parts);
  const sent = new Set<string>();
  const keys = [...Map.groupBy(projects, keyIdOf).values()];

  return async (): Promise<void> => {
    const team = teamId();
    if (team === undefined) return;
    for (const sharing of keys) {
      const dated = sharing.find(({ apiKeyExpires }) => apiKeyExpires !== undefined);
      const expires = dated?.apiKeyExpires;
      if (expires === undefined) continue;
      const leftMs = Date.parse(expires) - parts.now();
      const days = REMINDER_DAYS.find((ahead) => leftMs <= ahead * DAY_MS);
      const { variable, isFile, names } = keyOf(sharing);
      const name = `key-expires.${variable}.${expires}.${days}`;
      if (leftMs <= 0 || days === undefined || sent.has(name) || isRenewed(dated)) continue;
      const shown = { variable, isFile, names: projects.length > 1 ? names : [] };
      const message = expiryMessage(shown, expires);
      const alert = { name: `${name}:${team}`, messageKeyPrefix: name, message, once: true };
      const hasAdmins = await alertAdmins(team, alert);
      sent.add(name);
      log.warn({ variable, expires, hasAdmins }, 'an API key expires soon');
    }
  };
}

/** Returns whether the file now holds another key: the expiry date belongs to the key at the start. */
function isRenewed({ apiKey, apiKeyFile }: Partial<Project> = {}): boolean {
  try {
    return apiKeyFile !== undefined && readKeyFile(apiKeyFile) !== apiKey;
  } catch {
    return false;
  }
}
